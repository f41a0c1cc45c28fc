"""Counts the instructions of the hot paths with valgrind, and holds them against the committed counts.

A count is the same on a busy machine and on a quiet one. It differs between compilers, C libraries and processors, so the file names
those that it was made with, and with others nothing is compared.

    python3 bench/instructions.py --brief target/debug/brief            check within 3 %
    python3 bench/instructions.py --brief target/debug/brief --update   write the counts anew
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import workloads
from run import write

COMMITTED = pathlib.Path(__file__).with_name("instructions.json")
# More than this is a change that its author explains in the commit.
TOLERANCE = 0.03
CLIENTS = ["claude", "copilot", "opencode", "cursor"]


def for_clients(clients):
    return [word for client in clients for word in ("--client", client)]


def project(top):
    """Guidance in every format, and 80 client files."""
    workloads.public_tree(top, 100)
    write(f"{top}/AGENTS.yaml", "context:\n  - content: Handlers are thin.\n    match: ['src/**/*.ts']\n    on: edit\n")
    write(f"{top}/.context/always.md", "---\ntrigger: always\n---\nTimes are UTC.\n")
    write(f"{top}/.agents/rules/tests.md", "Write a test that fails first.\n")


def hot_paths(brief, work):
    """Yields name, command, directory and standard input."""
    top, items, registry, empty = (f"{work}/{name}" for name in ("project", "items", "registry", "empty"))
    project(top)
    workloads.for_brief(items, 0.1)
    workloads.skill_registry(registry, 5)
    os.makedirs(empty)
    for directory in (items, empty):
        workloads.git(directory, "init", "-q")
    path = "src/3/main.ts"
    edit = {"session_id": "count", "hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_input": {"file_path": f"{top}/{path}"}, "cwd": top}
    yield "start", [brief, "--version"], top, None
    yield "hook", [brief, "hook", "claude", "--repeat"], top, json.dumps(edit)
    yield "context", [brief, "context", path, "--on", "edit"], top, None
    yield "why", [brief, "why", path, "--client", "claude"], top, None
    yield "lint", [brief, "lint", "--only", "mistakes"], top, None
    yield "lint, all parts", [brief, "lint"], top, None
    yield "tokens", [brief, "tokens"], top, None
    yield "build", [brief, "registry", "build", "--out", "out", *for_clients(CLIENTS)], items, None
    yield "build, unchanged", [brief, "registry", "build", "--out", "out", *for_clients(CLIENTS)], items, None
    yield "add", [brief, "add", registry, *for_clients(CLIENTS[:3])], empty, None


def count(command, directory, stdin, home):
    """Returns the instructions of one run."""
    env = {"HOME": home, "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "BRIEF_HOOK_DEADLINE": "60000"}
    valgrind = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    ended = subprocess.run(valgrind + command, cwd=directory, input=stdin, env=env, capture_output=True, text=True)
    found = re.search(r"I\s+refs:\s+([\d,]+)", ended.stderr)
    if ended.returncode or not found:
        sys.exit(f"{' '.join(command)}: exit code {ended.returncode}\n{ended.stdout}{ended.stderr}")
    return int(found[1].replace(",", ""))


def toolchain():
    """Returns what a count depends on besides the code."""
    rustc = subprocess.run(["rustc", "--version"], check=True, capture_output=True, text=True).stdout.strip()
    cpu = pathlib.Path("/proc/cpuinfo")
    has_avx2 = cpu.exists() and " avx2 " in cpu.read_text()
    return f"{rustc}, {os.confstr('CS_GNU_LIBC_VERSION')}, {'with' if has_avx2 else 'without'} AVX2"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--brief", required=True)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        print("instructions: valgrind is not installed, so nothing is counted")
        return
    here = toolchain()
    committed = json.loads(COMMITTED.read_text()) if COMMITTED.exists() else {}
    if not options.update and committed.get("toolchain") != here:
        print(f"instructions: counted with {committed.get('toolchain')}, and this is {here}: nothing is compared")
        return
    # The name has a fixed length: paths are part of the work.
    work = tempfile.mkdtemp(prefix="brief-count-", dir="/tmp")
    try:
        home = f"{work}/home"
        os.makedirs(home)
        brief = os.path.abspath(options.brief)
        counts = {name: count(command, directory, stdin, home) for name, command, directory, stdin in hot_paths(brief, work)}
    finally:
        shutil.rmtree(work)
    if options.update:
        COMMITTED.write_text(json.dumps({"toolchain": here, "counts": counts}, indent=2) + "\n")
    changed = []
    for name, now in counts.items():
        before = committed.get("counts", {}).get(name, now)
        print(f"{name:<18} {now:>14,} {now / before - 1:>+8.1%}")
        if abs(now / before - 1) > TOLERANCE:
            changed.append(name)
    if changed and not options.update:
        sys.exit(f"{', '.join(changed)}: more than {TOLERANCE:.0%} from bench/instructions.json. If that is meant, `cargo xtask instructions --update` writes the counts, and the commit says why.")


if __name__ == "__main__":
    main()
