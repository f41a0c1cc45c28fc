#!/usr/bin/env python3
"""Writes `crates/cli/hook.ld`, which places the functions that a hook runs next to each other.

Runs the given program under callgrind for a few usual calls of a hook and lists every function that ran.
The program must have its symbols. Hashes in names change with every compiler and profile, so a function that exists
a few times only is listed without its hash, too. Usually called as `cargo xtask order`.
"""
import argparse
import collections
import json
import os
import re
import subprocess
import tempfile

import run

# callgrind does not know the instructions for hashes that processors have, so these never show up in a trace.
UNSEEN = ["_ZN4sha2*", "_ZN*_$LT$sha2..*"]

# As many functions with one name are placed together, although only some of them run.
FEW = 3

HEAD = """/* Places the functions that a hook runs next to each other. Written by `cargo xtask order`: do not edit.
 *
 * The system maps a program in windows of 16 pages and counts them as memory. Without this list, the functions of
 * a hook lie all over ten megabytes of code. A pattern that matches nothing does no harm: the function lies
 * where the linker puts it. */
SECTIONS
{
  .text.hook :
  {
"""
TAIL = """  }
}
INSERT BEFORE .text;
"""


def call(project, event, tool, tool_input, session):
    payload = {"session_id": session, "hook_event_name": event, "cwd": project}
    if tool:
        payload |= {"tool_name": tool, "tool_input": tool_input}
    return json.dumps(payload).encode()


def usual_calls(project, path):
    """A short conversation: its start, two looks at a file, an edit, a new file, a command."""
    file = {"file_path": os.path.join(project, path)}
    edit = file | {"old_string": "a", "new_string": "b"}
    new = {"file_path": os.path.join(project, os.path.dirname(path), "new.py"), "content": "a"}
    yield call(project, "SessionStart", None, None, "s")
    for event, tool, tool_input in [
        ("PreToolUse", "Read", file), ("PostToolUse", "Read", file), ("PreToolUse", "Edit", edit),
        ("PostToolUse", "Edit", edit), ("PreToolUse", "Write", new), ("PreToolUse", "Bash", {"command": f"cat {path}"}),
    ]:
        yield call(project, event, tool, tool_input, "s")


def functions(brief, project, payload, state):
    """Returns the names of all functions that ran, in the order of callgrind's report."""
    with tempfile.NamedTemporaryFile() as out:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out.name}", "--demangle=no",
                   "--compress-strings=no", brief, "hook", "claude"]
        subprocess.run(command, cwd=project, input=payload, check=True, capture_output=True,
                       env=os.environ | {"XDG_STATE_HOME": state, "BRIEF_HOOK_DEADLINE": "600000"})
        with open(out.name, encoding="utf-8", errors="replace") as report:
            return [line[3:].strip() for line in report if line.startswith("fn=")]


def without_hash(name):
    return re.sub(r"17h[0-9a-f]{16}E", "17h*", name)


def copies(brief):
    """Counts the functions of the program that differ in the hash alone."""
    listed = subprocess.run(["nm", "--defined-only", "--format=just-symbols", brief], check=True, capture_output=True, text=True)
    return collections.Counter(without_hash(name.split(".llvm.")[0]) for name in listed.stdout.split())


def patterns(name, count):
    """Returns the name, and also the name without what a compiler changes, unless many functions have it.

    A generic function exists once for each type, under names that differ in the hash alone: only the
    copy that ran belongs here. Functions of the system's libraries have no pattern.
    """
    name = name.split("'")[0].split(".llvm.")[0]
    if not name.startswith(("_ZN", "_R")):
        return []
    bare = without_hash(name)
    is_ours = re.match(r"_ZN\d+(brief|granit)", name)
    return [name + "*", bare] if bare != name and (is_ours or count[bare] <= FEW) else [name + "*"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--brief", required=True)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    found, count = {}, copies(args.brief)
    with tempfile.TemporaryDirectory() as work:
        small, large = os.path.join(work, "small"), os.path.join(work, "large")
        run.make_hook_project(small)
        run.make_hook_project(large)
        run.add_every_dialect(large)
        for project in [small, large]:
            for payload in usual_calls(project, "src/api/orders.py"):
                for name in functions(os.path.abspath(args.brief), project, payload, os.path.join(work, "state")):
                    found.update(dict.fromkeys(patterns(name, count)))
    with open(args.out, "w", encoding="utf-8") as file:
        file.write(HEAD)
        for name in sorted([*found, *UNSEEN]):
            file.write(f"    *(.text.{name} .text.unlikely.{name})\n")
        file.write(TAIL)
    print(f"{args.out}: {len(found)} patterns")


if __name__ == "__main__":
    main()
