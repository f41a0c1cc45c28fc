"""Round trips of whole collections: which files `brief import` and `brief add` find, and what comes back unchanged.

`bench/roundtrip.py --brief BRIEF --work DIR COLLECTION…`, each collection a directory that holds one. The files are found by
a rule of this script, not by the program's own, and compared by Python's reader of YAML: body byte for byte, every field by
its value, patterns as written. A field that differs is counted again by its meaning: a list and a text with commas are the
same there. Needs PyYAML.
"""
import argparse
import collections
import json
import os
import re
import shutil
import subprocess
import sys

import yaml

# Directories of clients, and the client.
HOMES = {
    ".claude": "claude", ".claude-plugin": "claude", ".cursor": "cursor", ".github": "copilot", ".opencode": "opencode",
    ".gemini": "gemini", ".codex": "codex", ".windsurf": "windsurf", ".kiro": "kiro", ".roo": "roo", ".clinerules": "cline",
    ".qwen": "qwen", ".factory": "droid", ".kilocode": "kilo", ".continue": "continue", ".augment": "augment",
    ".junie": "junie", ".trae": "trae", ".agents": None, ".agent": "antigravity",
}
# Where the client gets an item.
PLACES = {
    ("cursor", "rule"): ".cursor/rules/{}.mdc", ("copilot", "rule"): ".github/instructions/{}.instructions.md",
    ("copilot", "agent"): ".github/agents/{}.agent.md", ("copilot", "command"): ".github/prompts/{}.prompt.md",
    ("claude", "rule"): ".claude/rules/{}.md", ("claude", "agent"): ".claude/agents/{}.md",
    ("claude", "command"): ".claude/commands/{}.md", ("claude", "skill"): ".claude/skills/{}/SKILL.md",
    ("opencode", "agent"): ".opencode/agents/{}.md", ("opencode", "command"): ".opencode/commands/{}.md",
    ("gemini", "command"): ".gemini/commands/{}.toml", ("gemini", "agent"): ".gemini/agents/{}.md",
    ("cursor", "agent"): ".cursor/agents/{}.md", ("cursor", "command"): ".cursor/commands/{}.md",
    ("windsurf", "rule"): ".windsurf/rules/{}.md", ("gemini", "rule"): ".agents/rules/{}/RULE.md",
}
NO_GUIDANCE = re.compile(r"^(README|CONTRIBUTING|LICENSE|CHANGELOG|INDEX|SECURITY|CODE_OF_CONDUCT|TEMPLATE)", re.I)
OWN = ("CLAUDE.md", "AGENTS.md", "GEMINI.md", "copilot-instructions.md", ".windsurfrules")
LISTS = {"tools", "skills", "globs", "applyTo", "paths", "allowed-tools", "disallowedTools"}


def originals(top):
    """Yields the path, kind and client of each file that a person would call an item, by its name and place."""
    skills = set()
    for directory, below, names in os.walk(top):
        below[:] = sorted(name for name in below if name not in (".git", "node_modules"))
        if "SKILL.md" in names:
            skills.add(directory)
    for directory, below, names in os.walk(top):
        below[:] = sorted(name for name in below if name not in (".git", "node_modules"))
        parts = os.path.relpath(directory, top).split(os.sep)
        inside = any(directory == own or directory.startswith(own + os.sep) for own in skills)
        home = next((HOMES[part] for part in reversed(parts) if part in HOMES), None)
        for name in sorted(names):
            path = os.path.relpath(os.path.join(directory, name), top)
            if os.path.islink(os.path.join(directory, name)):
                continue
            if name == "SKILL.md":
                above = os.path.dirname(directory)
                if not any(above == own or above.startswith(own + os.sep) for own in skills):
                    yield path, "skill", "claude"
            elif inside:
                continue
            elif name.endswith(".mdc") or name == ".cursorrules":
                yield path, "rule", "cursor"
            elif name.endswith(".instructions.md"):
                yield path, "rule", "copilot"
            elif name.endswith((".agent.md", ".chatmode.md")):
                yield path, "agent", "copilot"
            elif name.endswith(".prompt.md"):
                yield path, "command", "copilot"
            elif name.endswith(".toml") and "commands" in parts and home == "gemini":
                yield path, "command", home
            elif name in OWN:
                yield path, "rule", {"c": "copilot", "G": "gemini", ".": "windsurf"}.get(name[0], "claude")
            elif name.endswith(".md") and not NO_GUIDANCE.match(name):
                kind = next((word for word in reversed(parts) if word in ("agents", "commands", "rules", "categories")), None)
                head = open(os.path.join(directory, name), "rb").read(4)
                if kind in ("agents", "commands", "rules") or kind == "categories" and head.startswith(b"---"):
                    yield path, {"categories": "agent"}.get(kind, (kind or "")[:-1]), home or "claude"


def parts_of(data):
    """Splits a file into its header, or None, and its body."""
    text = data.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    found = re.match(r"---[ \t]*\r?\n(.*?\r?\n)?---[ \t]*(\r?\n|$)", text, re.S)
    return (found.group(1) or "", text[found.end():]) if found else (None, text)


def lines_of(header):
    """Reads a header that is no YAML as its clients do: a field a line, quotation marks off."""
    fields = {}
    last = None
    for line in header.splitlines():
        found = re.match(r"([A-Za-z][\w-]*):(?:\s+(.*))?$", line)
        if found:
            last = found.group(1)
            fields[last] = (found.group(2) or "").strip().strip("'\"")
        elif last is not None and line.strip() and not line.lstrip().startswith("#"):
            fields[last] = (fields[last] + "\n" + line.strip()).strip()
    return fields


def fields_of(header):
    if header is None:
        return {}, True
    try:
        found = yaml.load(header, yaml.SafeLoader)
        if isinstance(found, dict):
            return found, True
    except yaml.YAMLError:
        pass
    return lines_of(header), False


def strict(value):
    return value.strip() if isinstance(value, str) else value


def loose(key, value):
    """A value by its meaning: a list of names is a text with commas."""
    if isinstance(value, str):
        value = value.strip()
        if key in LISTS or key.lower() == "applyto":
            value = sorted(part.strip().strip("'\"") for part in re.split(r",(?![^{]*\})", value) if part.strip())
        return value
    if isinstance(value, list) and all(not isinstance(part, (list, dict)) for part in value):
        return sorted(str(part).strip() for part in value)
    return value


def plain(value):
    """A value as a header shows it that is no YAML: in one line, with the brackets of a list."""
    text = f"[{', '.join(map(str, value))}]" if isinstance(value, list) else str(value or "")
    return " ".join(text.split())


def is_said(value):
    return value is not None and value != "" and value != []


def differences(before, after):
    """Returns what differs: `body`, a field as `=field` by its value alone, or `!field` by its meaning, too."""
    (head, body), (head_again, body_again) = parts_of(before), parts_of(after)
    found = []
    if body != body_again and (head is not None or head_again is None or body.lstrip("\n") != body_again):
        found.append("body")
    fields, is_yaml = fields_of(head)
    again, is_yaml_again = fields_of(head_again)
    if not is_yaml and not is_yaml_again:
        fields, again = lines_of(head), lines_of(head_again)
    for key in sorted(set(map(str, fields)) | set(map(str, again))):
        one, two = fields.get(key), again.get(key)
        if not is_said(one) and not is_said(two):
            continue
        if not is_yaml:
            one, two = plain(one), plain(two)
        if strict(one) != strict(two):
            is_meant = loose(key, one) == loose(key, two)
            found.append(f"{'=' if is_meant else '!'}{key}")
    return found


def run(command, cwd):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=500)
    try:
        return json.loads(done.stdout)
    except ValueError:
        print(f"{' '.join(command)}: {done.stderr[:400]}", file=sys.stderr)
        return {}


def measure(brief, top, work, verbose):
    name = os.path.basename(top.rstrip("/"))
    place = os.path.join(work, name)
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(place)
    wanted = {path: (kind, client) for path, kind, client in originals(top)}
    project, registry = os.path.join(place, "project"), os.path.join(place, "registry")
    shutil.copytree(top, project, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    os.makedirs(os.path.join(project, ".git"))
    os.makedirs(registry)
    report = run([brief, "import", ".", "--to", registry, "--json"], project)
    item_of = {path: item for item in report.get("items", []) for path in item["from"]}
    skipped = {own["path"]: own["reason"] for own in report.get("skipped", [])}
    built = {}
    for client in sorted({client for _, client in wanted.values() if client}):
        out = built[client] = os.path.join(place, "built-" + client)
        run([brief, "registry", "build", registry, "--client", client, "--out", out, "--json"], project)
    counts, causes, lost = collections.Counter(), collections.defaultdict(list), []
    for path, (kind, client) in sorted(wanted.items()):
        counts["files"] += 1
        item = item_of.get(path)
        if item is None:
            lost.append((path, skipped.get(path, "not found")))
            continue
        counts["imported"] += 1
        own_kind, own_name = item["item"].split("/", 1)
        if own_kind != kind:
            causes[f"it is a {own_kind} to the program, a {kind} to this script"].append(path)
        form = PLACES.get((client, own_kind))
        output = os.path.join(built[client], form.format(own_name)) if form else None
        if output is None or not os.path.exists(output):
            causes["no output" if form else f"no place known for {client} {own_kind}"].append(path)
            continue
        before = open(os.path.join(top, path), "rb").read()
        found = differences(before, open(output, "rb").read())
        if os.path.basename(path) in OWN:
            # Its place says for which files it is; a rule says it in a field.
            found = [own for own in found if own == "body"]
        counts["same"] += not found
        counts["meant"] += all(own.startswith("=") for own in found)
        for own in found:
            causes[own].append(path)
    share = lambda key: f"{counts[key]} ({counts[key] / max(counts['files'], 1):.2%})"
    print(f"{name}: {counts['files']} files, imported {share('imported')}, back by value {share('same')}, by meaning {share('meant')}")
    for cause, paths in sorted(causes.items(), key=lambda own: -len(own[1])):
        print(f"    {cause}: {len(paths)}, such as {', '.join(paths[:verbose])}")
    for reason, number in collections.Counter(reason for _, reason in lost).most_common():
        print(f"    left out, {reason}: {number}, such as {', '.join([path for path, own in lost if own == reason][:verbose])}")


def measure_add(brief, top, work, verbose):
    """Counts the files that `brief add` finds as items, and those that it installs, byte for byte for their own client."""
    name = os.path.basename(top.rstrip("/"))
    project = os.path.join(work, name, "added")
    shutil.rmtree(project, ignore_errors=True)
    os.makedirs(os.path.join(project, ".git"))
    listed = run([brief, "list", top, "--json"], project)
    paths = {item["path"]: item for item in listed.get("items", [])}
    wanted = {path: (kind, client) for path, kind, client in originals(top)}
    # A repository's own instructions are for those who work on it.
    wanted = {path: own for path, own in wanted.items() if os.path.basename(path) not in OWN}
    read = lambda path: open(os.path.join(top, path), "rb").read()
    entries = (next((own for own in (path, os.path.join(path, "SKILL.md")) if os.path.isfile(os.path.join(top, own))), None) for path in paths)
    contents = {read(own) for own in entries if own}
    unlisted, installed, changed = [], 0, []
    clients = sorted({client for _, client in wanted.values() if client})
    report = run([brief, "add", top, "--json", *(part for client in clients for part in ("--client", client))], project)
    texts = set()
    for directory, _, names in os.walk(project):
        texts.update(open(os.path.join(directory, own), "rb").read() for own in names)
    for path in sorted(wanted):
        # The same text in two places is one item.
        if os.path.dirname(path) not in paths and path not in paths and read(path) not in contents:
            unlisted.append(path)
        elif read(path) in texts:
            installed += 1
        else:
            changed.append(path)
    number = max(len(wanted), 1)
    found = number - len(unlisted)
    print(f"{name}: {number} files, add lists {found} ({found / number:.2%}), installed byte for byte {installed} ({installed / number:.2%})")
    print(f"    not listed: {len(unlisted)}, such as {', '.join(unlisted[:verbose])}")
    print(f"    not installed as they are: {len(changed)}, such as {', '.join(changed[:verbose])}")
    for code, text in collections.Counter((own["code"], own["message"][:100]) for own in report.get("diagnostics", []) if own["severity"] == "error").most_common(verbose):
        print(f"    {code}: {text}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--brief", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--examples", type=int, default=3)
    parser.add_argument("--add", action="store_true", help="measure `brief add` instead")
    parser.add_argument("collections", nargs="+")
    args = parser.parse_args()
    os.environ["HOME"] = os.path.join(args.work, "home")
    os.makedirs(os.environ["HOME"], exist_ok=True)
    for top in args.collections:
        one = measure_add if args.add else measure
        one(os.path.abspath(args.brief), os.path.abspath(top), os.path.abspath(args.work), args.examples)


if __name__ == "__main__":
    main()
