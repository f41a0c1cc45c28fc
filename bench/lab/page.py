"""Writes the page of the runs from the results that are there."""

import json

from .limits import reason_for
from .project import PARTS, RULES, USER
from .shapes import DISABLED, FAULTY, SHAPES
from .table import CLIENTS

NAMES = list(dict.fromkeys(shape.name for shape in SHAPES))


def shown(results):
    """Returns the text of the file of results: one line for each session, so that a change is a line."""
    clients = []
    for name, client in sorted(results.items()):
        lines = [f'  "version": {json.dumps(client["version"])}', f'  "date": {json.dumps(client["date"])}']
        for part in ("shapes", "faults", "rules"):
            if part not in client:
                continue
            rows = [f"   {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in sorted(client[part].items())]
            lines.append(f'  "{part}": {{' + ("\n" + ",\n".join(rows) + "\n  " if rows else "") + "}")
        clients.append(f' {json.dumps(name)}: {{\n' + ",\n".join(lines) + "\n }")
    return "{\n" + ",\n".join(clients) + "\n}\n"


def cell(result, notes, name, shape):
    """Returns a cell: delivered of expected, double, late; with a note for what is not clean."""
    if result is None:
        reason = CLIENTS[name].get("lacks", {}).get(shape)
        if not reason:
            return "not run"
        notes.append((name, shape, reason))
        return f"– [{len(notes)}](#note-{len(notes)})"
    if result.get("void"):
        return "not come about"
    text = f"{result['reached']}/{result['promised']}, {result['double']}, {result['late']}"
    if result["unexpected"]:
        text += f", {result['unexpected']} unexpected"
    if not result["worked"]:
        text += " (not ended)"
    found = {}
    for kind, mark, where, words in result["findings"]:
        reason = reason_for(name, shape, kind, mark, where) or "not explained"
        found.setdefault(reason, []).append((kind, mark, where, words))
    for reason, findings in found.items():
        kind, mark, where, words = findings[0]
        more = f", and {len(findings) - 1} more" if len(findings) > 1 else ""
        notes.append((name, shape, f"{reason}: {where}{kind}, {mark.removeprefix('MARK-')} {words}{more}"))
        text += f" [{len(notes)}](#note-{len(notes)})"
    return text


def is_clean(name, shape, result):
    """Returns whether a session has no finding without a reason."""
    if result.get("void"):
        return True
    return result["worked"] and all(reason_for(name, shape, *found[:3]) for found in result["findings"])


def sessions(results):
    notes, lines = [], []
    head = "| session | " + " | ".join(f"{name} {results[name]['version']}" for name in CLIENTS if name in results) + " |"
    lines += [head, "| --- " * (head.count("|") - 1) + "|"]
    for shape in NAMES:
        cells = [cell(results[name]["shapes"].get(shape), notes, name, shape) for name in CLIENTS if name in results]
        lines.append(f"| {shape} | " + " | ".join(cells) + " |")
    lines.append("")
    for number, (name, shape, text) in enumerate(notes, 1):
        lines.append(f'{number}. <a id="note-{number}"></a>{name}, *{shape}*: {text}')
    return "\n".join(lines)


def faults(results):
    rows = [(name, hook, run) for name in CLIENTS if name in results for hook, run in results[name].get("faults", {}).items()]
    kinds = [shape.name for shape in [*FAULTY, DISABLED]]
    lines = ["| client | version | " + " | ".join(kinds) + " |", "| --- " * (len(kinds) + 2) + "|"]
    for name, hook, run in rows:
        title = name if name == hook else f"{name}, hook of {hook}"
        lines.append(f"| {title} | {run['version']} | " + " | ".join(run["cells"].get(kind, "–") for kind in kinds) + " |")
    return "\n".join(lines)


def kept_rules(results):
    """Returns the table of calls that a check forbids: a row for each call, a column for each client."""
    names = [name for name in CLIENTS if name in results and "rules" in results[name]]
    cases = list(dict.fromkeys(case for name in names for case in results[name]["rules"]["cells"]))
    lines = ["| call | " + " | ".join(f"{name} {results[name]['rules']['version']}" for name in names) + " |", "| --- " * (len(names) + 1) + "|"]
    for case in cases:
        lines.append(f"| {case} | " + " | ".join(results[name]["rules"]["cells"].get(case, "–") for name in names) + " |")
    return "\n".join(lines)


def joins(results):
    """Returns the table of receipts and transcripts: all sessions of each client together."""
    lines = ["| client | deliveries | of a call, found by its id | of a start or a prompt, found by the session | of a call, found by session and file | not found | why not by an id |",
             "| --- " * 7 + "|"]
    for name in (name for name in CLIENTS if name in results):
        runs = [run["joins"] for run in results[name]["shapes"].values() if run.get("joins")]
        if not runs:
            continue
        counts = [sum(run[key] for run in runs) for key in ("deliveries", "call", "conversation", "without", "lost")]
        reasons = "; ".join(sorted({reason for run in runs for reason in run["reasons"]}))
        lines.append(f"| {name} | " + " | ".join(map(str, counts)) + f" | {reasons} |")
    return "\n".join(lines)


def prompt_cache(results):
    """Returns the table of what stays the same from one request to the next."""
    lines = ["| client | with the hook | changed bytes | without a hook | what changes | breakpoints |", "| --- " * 6 + "|"]
    for name in (name for name in CLIENTS if name in results):
        shapes = results[name]["shapes"]
        with_hook, without = (shapes.get(shape, {}).get("cache") for shape in ("root", "without a hook"))
        if not with_hook or not with_hook["pairs"]:
            continue
        alone = f"{without['whole']} of {without['pairs']}" if without and without["pairs"] else "–"
        where = ", ".join(f"{part} ({count})" for part, count in with_hook["where"].items()) or "nothing"
        points = ", ".join(with_hook["breakpoints"]) or "none"
        lines.append(f"| {name} | {with_hook['whole']} of {with_hook['pairs']} | {with_hook['lost']:,} | {alone} | {where} | {points} |")
    return "\n".join(lines)


TEXT = """# Clients that were run

Made by `cargo xtask clients` from `bench/clients.json`: real clients against a scripted model, which records every request.
`cargo xtask clients NAME@VERSION` (or `NAME@latest`) tests a new version of a client: it installs it, runs every session, writes the version into
`bench/lab/table.py`, and the diff of this page is what changed. [Each client's page](../clients/README.md) has the facts behind this.

{versions}

## Sessions

Each cell is *delivered/expected, double, late*. Expected is what `brief context --client` says for the moments of the session: everything
that is delivered or that the client loads by itself, in every later request of the conversation, once. A text is late if a later request than
the next one has it. The project has {files} files with marked guidance of every kind, some of them with `@path`, headings and closing tags,
one rule for another client, and the user's own guidance. A text without a promise would be listed as unexpected. `–`: there is no such session,
for the reason in the note; *not run*: nobody has run it in this version; *not come about*: it did not compact.

{sessions}

- *from src*, *nested start*, *start elsewhere*: started in `src`, in the file's own directory, and in another part of the tree. In *from src* Gemini CLI
  works on files below `src` alone; in *start elsewhere* its `context.includeDirectories` name the project.
- *prompt*: the prompt names two files. *shell writes*: `cat >` with a here-document, `sed -i`, `tee`, a Python program. *shell patches*: `git apply`, `patch`, a
  `sed -i` whose file a variable hides, then an edit. *shell reads*: `cat`, then the client's own tools. *several files*: one patch of three.
- *resume*: two runs that continue. Cline continues in a terminal only ("interactive mode requires a TTY"), in which the prompt is typed. `droid exec -s` ends with 1 and
  without a request for a user who is not logged in, so that each run is a fork (`--fork`), which is a new session with a copy of the messages.
- *compaction*: the model reports 190,000 tokens after the first edit; where that is not enough, the client's own setting has a lower limit. Gemini CLI compacts at a prompt
  before the last one, so that its session is resumed once. Cline counts the texts itself, and takes them for at most four times as many tokens where the model reports more, so
  that ten commands with a long output come before the edit.
- *worktree*: a linked worktree; Claude Code and Codex run the hook of the main checkout there, Codex if the worktree has a directory `.codex`. *two hooks*: in the project and for the user, and Claude Code's beside Copilot's.
  *other hooks*: those of Claude Code and Gemini CLI are installed, too.
- *subagent*: it reads and edits a file that its parent has read; both conversations count.
- *failed calls*: a file that is not there and an edit that does not match. *hold*: `--block-once`, and changes without a read.

{notes}

## When `brief` fails

The same session with the hook that `brief hook install` writes, and something else in the place of `brief`: nothing, a
program that kills itself, one that exits with 2, one that never ends, one that prints a line that is not JSON, and one that
prints `null`. `works`: every request reached the model and every call of a tool ran, among them one that writes 150 kB (in Cline, whose editor takes 6,000 characters, a command that prints as much).
Last, the real `brief` with `BRIEF_DISABLE=1`. Copilot also runs the hooks of Claude Code's settings.

{faults}

## Calls that a check forbids

A project with [checked rules](../how-to/keep-a-rule.md) that its user trusts, in the mode of the client that asks for nothing (`--yolo` and its like). Each call is a session of its own. *stopped*:
nothing of it is in the project, and the model read the reason. *told*: it ran, and the model read with the result which rule it broke. *runs*: an allowed call. `PASSED`: it ran although a rule forbids it.
*held*: how often the model was sent back to work in one session at the end of its turn. `–`: the client has no such call.

{rules}

## Receipts and transcripts

Each delivery of these sessions has a [receipt](../reference/hook.md#joined-with-the-clients-records), and each client keeps a transcript. A receipt with the id of a call is found if a
record of the session's own transcript has that id and names the file. What came with a start or a prompt belongs to no call and is found by its session.

{joins}

## The prompt cache

A service can reuse what a request has in common with the one before, from its beginning: tools, system prompt, messages. The table has the pairs of
successive requests of the session *root* in which the earlier request is whole and unchanged at the beginning of the later one, the bytes of the earlier request that
changed, and the same without a hook. Reuse by a real service was not observed.

{cache}

- A text that comes with a start, a prompt or a tool's result is appended once and stays where it is: it costs its tokens as new input once, and then as cached input.
  Without a cache it costs its tokens with each request.
- opencode and Kilo get the text of the start in the system prompt. It is the same in every request of a run, so that the prefix stays. A
  resumed run gets the guidance as it is then.
- Claude Code puts its only breakpoint in the messages on the last message, which is the text of a hook after a delivery.

"""


def write(out, results):
    """Writes the page. The sections about single facts, and the table of all clients, stay."""
    old = out.read_text() if out.exists() else ""
    _, heading, rest = old.partition("\n## `@path`")
    table, notes = sessions(results).split("\n\n", 1)
    newer = lambda name: CLIENTS[name].get("newer", "none")
    versions = [f"| {name} | {results[name]['version']} | {results[name]['date']} | {newer(name)} |" for name in CLIENTS if name in results]
    text = TEXT.format(
        versions="\n".join(["| client | version | run on | newer versions |", "| --- | --- | --- | --- |", *versions]), files=len(RULES) + len(USER) + 4 * len(PARTS) + 10,
        sessions=table, notes=notes.strip(), faults=faults(results), rules=kept_rules(results), joins=joins(results), cache=prompt_cache(results))
    out.write_text(text.rstrip() + "\n" + heading + rest)
