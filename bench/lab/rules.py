"""Rules with checks in real clients: what a forbidden call does, and what the model and the project see of it.

The session has forbidden and allowed calls side by side. A forbidden call is stopped if nothing of it is in the project and the reason is in
a later request; a rule that only warns is told with the result; the end of a turn is held at most twice.
"""

import json
import os
import pty
import subprocess

from . import project as marked
from .session import Session
from .shapes import Phase, Shape, agent, edit, linger, many, read, shell
from .table import CLIENTS

RULES = [
    {"content": "MARK-rule-generated is made and not edited.", "id": "generated", "enforce": "deny",
     "check": {"forbid": {"change": "src/gen/**", "create": "src/gen/**", "delete": "src/gen/**"}},
     "examples": {"broken": ["src/gen/a.py"], "kept": ["src/a.py"]}},
    {"content": "MARK-rule-npm: use pnpm here.", "id": "no-npm", "enforce": "deny",
     "check": {"forbid": {"command": ["npm", "yarn"]}, "instead": "pnpm"},
     "examples": {"broken": ["npm install"], "kept": ["pnpm add x"]}},
    {"content": "MARK-rule-print: use the logger.", "id": "no-print", "enforce": "deny", "match": ["src/**"],
     "check": {"forbid": {"text": "print("}}, "examples": {"broken": ["print(1)"], "kept": ["log.info(1)"]}},
    {"content": "MARK-rule-push: ask before you push.", "id": "push", "enforce": "ask", "check": {"forbid": {"command": "git push"}},
     "examples": {"broken": ["git push"], "kept": ["git pull"]}},
    {"content": "MARK-rule-todo: leave no TODO behind.", "id": "todo", "enforce": "warn", "check": {"forbid": {"text": "TODO"}}},
]
AT_THE_END = {"content": "MARK-rule-tests: run the tests.", "id": "tests", "enforce": "deny", "match": ["src/**"],
              "check": {"require": {"run": "make test", "after": "edit", "before": "stop"}},
              "examples": {"broken": [{"change": "src/a.py"}], "kept": [{"command": "make test"}]}}
REFUSED = ("Blocked by a rule:", "A rule asks for the user's consent:")
WARNED = ("This call broke a rule:",)
HELD = "Before you end your turn:"
GENERATED, A = "src/gen/made.py", "src/api/a.py"


def create(path, text):
    return {"do": "create", "name": f"create {path}", "path": path, "new": text, "touches": [], "checks": []}


def change(path, old, new):
    return {**edit(path, old, new), "touches": [], "checks": []}


def look(path):
    return {**read(path), "touches": []}


def run(command):
    return shell(command)


def patch_of_four():
    body = "".join(f"*** Add File: {path}\n+z = 1\n" for path in ("src/p1.py", "src/p2.py", "src/gen/p3.py", "src/p4.py"))
    return {"do": "patch", "name": "patch of four files", "patch": body, "touches": [], "checks": []}


class RuleSession(Session):
    """A session in a project with rules that its user trusts."""

    rules = RULES
    disagrees = False

    def set_up_hooks(self):
        (self.project / "AGENTS.yaml").write_text(json.dumps({"context": self.rules}))
        marked.write(self.project, GENERATED, "x = 1\n")
        # A rule of the agent's own guidance is in no request before it is broken.
        super().set_up_hooks()
        self.trust()
        if self.disagrees:
            disagree(self)

    def trust(self):
        """Answers the question of `brief trust --rules` at a terminal."""
        person, terminal = pty.openpty()
        environment = {**self.environment, "PATH": self.lab.path(self.name)}
        command = [str(self.lab.brief), "trust", "--rules"]
        child = subprocess.Popen(command, cwd=self.root, env=environment, stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        os.write(person, b"y\n")
        _, errors = child.communicate(timeout=600)
        os.close(person), os.close(terminal)
        if child.returncode != 0:
            raise SystemExit(f"{self.name}: brief trust --rules: {errors.decode()}")


ALLOWS = {
    "claude": (".claude/settings.local.json", {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}),
    "gemini": (".gemini/settings.json", {"decision": "allow"}),
    "qwen": (".qwen/settings.json", {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}),
    "droid": (".factory/hooks.json", {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}),
}


def disagree(session):
    """Puts a hook that allows everything before that of `brief`."""
    file, answer = ALLOWS[session.name]
    for base in (session.project, session.home):
        settings = base / file
        if not settings.exists():
            continue
        found = json.loads(settings.read_text())
        events = found.get("hooks", found)
        event = "BeforeTool" if session.name == "gemini" else "PreToolUse"
        handler = {"type": "command", "command": f"echo '{json.dumps(answer)}'"}
        if event in events:
            events[event].insert(0, {"matcher": ".*", "hooks": [handler]})
            settings.write_text(json.dumps(found))


class Case:
    """One call, and what it must leave: a file with a text, or none of it; and words in a later request."""

    def __init__(self, name, step, stopped=None, written=None, told=None, fits=lambda _: True):
        self.name, self.step, self.stopped, self.written, self.told, self.fits = name, step, stopped, written, told, fits

    def judge(self, session, result):
        passed_is_known = session.name in KNOWN and self.name in KNOWN[session.name]
        has = lambda path, text: (session.project / path).exists() and text in (session.project / path).read_text()
        said = "\n".join(json.dumps(request["body"]) for request in result.requests)
        # The text of a rule may be there as guidance: what follows from breaking it has words of its own.
        told = self.told is None or self.told in said and any(word in said for word in (REFUSED if self.stopped and not passed_is_known else WARNED))
        if self.stopped:
            passed = has(*self.stopped)
            return ("PASSED" if passed else "stopped") + ("" if told else ", not told")
        if self.written and not has(*self.written):
            return "WRONGLY STOPPED"
        return "runs" if self.told is None else ("told" if told else "not told")


CASES = [
    Case("edit", change(GENERATED, "x = 1", "x = 3"), stopped=(GENERATED, "x = 3"), told="MARK-rule-generated"),
    Case("new file", create("src/gen/new.py", "z = 1"), stopped=("src/gen/new.py", "z = 1"), told="MARK-rule-generated"),
    Case("added text", create("src/printed.py", "print(1)"), stopped=("src/printed.py", "print"), told="MARK-rule-print"),
    Case("command", run("npm --version > npm.txt; echo ran >> npm.txt"), stopped=("npm.txt", "ran"), told="MARK-rule-npm"),
    Case("command in bash -c", run("bash -c 'cd . && env X=1 npm --version; echo ran > npm2.txt'"), stopped=("npm2.txt", "ran"), told="MARK-rule-npm"),
    Case("> in a command", run(f"echo 'x = 5' > {GENERATED}"), stopped=(GENERATED, "x = 5"), told="MARK-rule-generated"),
    Case("sed -i", run(f"sed -i 's/x = 1/x = 6/' {GENERATED}"), stopped=(GENERATED, "x = 6"), told="MARK-rule-generated"),
    Case("python here-document", run("python3 - <<'E'\nopen('src/gen/made.py', 'a').write('x = 7')\nE"), stopped=(GENERATED, "x = 7"), told="MARK-rule-generated"),
    Case("ask, nobody there", run("git push nowhere; echo ran > push.txt"), stopped=("push.txt", "ran"), told="MARK-rule-push"),
    Case("one of two calls", many(change(GENERATED, "x = 1", "x = 8"), create("src/both.py", "z = 1")),
         stopped=(GENERATED, "x = 8"), told="MARK-rule-generated"),
    Case("subagent", agent(change(GENERATED, "x = 1", "x = 9")), stopped=(GENERATED, "x = 9"), told="MARK-rule-generated",
         fits=lambda client: "agent" in client["tools"]),
    Case("patch of four files", patch_of_four(), stopped=("src/gen/p3.py", "z = 1"), told="MARK-rule-generated",
         fits=lambda client: "patch" in client["tools"]),
    Case("warned", create("src/todo.py", "# TODO"), written=("src/todo.py", "TODO"), told="MARK-rule-todo"),
    Case("hidden in a variable", run("D=src/gen; echo 'h = 1' > $D/hidden.py"), written=("src/gen/hidden.py", "h = 1"), told="src/gen/hidden.py: create"),
    Case("allowed edit", change(A, "x = 1", "x = 3"), written=(A, "x = 3")),
    Case("allowed command", run("echo npm install > notes.txt"), written=("notes.txt", "npm install")),
]


def play(lab, name, steps, kind=RuleSession):
    """Runs a session. Returns it with its result, its files still there."""
    import pathlib
    import tempfile

    scratch = tempfile.TemporaryDirectory(prefix="lab-", ignore_cleanup_errors=True)
    shape = Shape("rules", [Phase(steps)])
    session = kind(lab, name, shape, pathlib.Path(scratch.name).resolve())
    session.kept = scratch
    return session, session.run()


class HeldSession(RuleSession):
    rules = [AT_THE_END]


class DisagreeingSession(RuleSession):
    disagrees = True


# What is known to pass, with the reason in docs/how-to/keep-a-rule.md.
KNOWN = {
    "cline": {case.name for case in CASES if case.stopped},
    "codex": set(),
}


def wrong_cells(name, cells):
    """Returns the cells that nothing explains: a call that passed, a wrong refusal, a session that did not end."""
    bad = lambda word: any(part in word for part in ("PASSED", "WRONGLY", "NOT ENDED", "not told"))
    return [(case, word) for case, word in cells.items() if bad(word) and case not in KNOWN.get(name, ())]


def run_rules(lab, name):
    """Returns a word for each case: `stopped`, `told`, `runs`, or what happened instead."""
    client, cells = CLIENTS[name], {}
    for case in CASES:
        if not case.fits(client):
            continue
        steps = [case.step, linger()] if case.name == "subagent" else [case.step]
        session, result = play(lab, name, [look(GENERATED), look(A), *steps] if client.get("edits_after_read") else steps)
        word = case.judge(session, result)
        cells[case.name] = word if all(result.ended) else f"{word}, NOT ENDED"
        print(f"{name}, {case.name}: {cells[case.name]}", flush=True)
        session.kept.cleanup()
    first = [look(A)] if client.get("edits_after_read") else []
    session, result = play(lab, name, [*first, change(A, "x = 1", "x = 3")], HeldSession)
    held = sum(check["outcome"] == "held" for receipt in result.receipts for check in receipt["checks"])
    is_told = any(HELD in json.dumps(request["body"]) for request in result.requests)
    cells["end of the turn"] = (f"held {held} times" if is_told == (held > 0) else f"held {held} times, not told") + ("" if all(result.ended) else ", NOT ENDED")
    session.kept.cleanup()
    if name in ALLOWS:
        case = CASES[1]
        session, result = play(lab, name, [case.step], DisagreeingSession)
        cells["another hook allows it"] = case.judge(session, result)
        session.kept.cleanup()
    print(f"{name}: {cells}", flush=True)
    return cells
