"""Times the hook with checks: beside the same hook without them, and a refused call on a busy machine.

    python3 bench/enforcement.py --brief target/release/brief

The bars are 0.3 ms more for 100 checks of which 3 apply, and 20 ms for the 99th of 100 refused calls with four busy loops beside it.
"""
import argparse
import json
import os
import pathlib
import pty
import statistics
import subprocess
import sys
import tempfile
import time

from run import write

BUSY = 4


def entry(number, glob, check):
    broken, kept = ("forbidden%d --now" % number, "allowed") if "command" in check["forbid"] else ("forbidden%d" % number, "allowed")
    return {"content": f"Rule {number}.", "id": f"rule-{number}", "match": [glob], "check": check, "enforce": "deny",
            "examples": {"broken": [broken], "kept": [kept]}}


def rules():
    """Returns 100 rules: three are about the file that the call edits."""
    apply = [entry(number, "src/**", {"forbid": {"text": f"forbidden{number}"}}) for number in range(3)]
    others = [entry(number, f"part{number}/**", {"forbid": {"text": f"forbidden{number}"}}) for number in range(3, 100)]
    return apply + others


def plain(entries):
    return [{key: one[key] for key in ("content", "match")} for one in entries]


def lay_out(top, entries):
    write(f"{top}/AGENTS.yaml", json.dumps({"context": entries}))
    write(f"{top}/src/main.ts", "let a = 1\n")
    subprocess.run(["git", "init", "-q", top], check=True)


def call(brief, top, environment, text, number):
    payload = {"session_id": f"s{number}", "hook_event_name": "PreToolUse", "tool_name": "Edit", "cwd": top,
               "tool_input": {"file_path": f"{top}/src/main.ts", "old_string": "let a = 1", "new_string": text}}
    begun = time.perf_counter()
    done = subprocess.run([brief, "hook", "claude", "--repeat"], input=json.dumps(payload), cwd=top, env=environment, capture_output=True, text=True)
    return (time.perf_counter() - begun) * 1000, done.stdout


def trust(brief, top, environment):
    person, terminal = pty.openpty()
    child = subprocess.Popen([brief, "trust", "--rules"], cwd=top, env=environment, stdin=terminal, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    os.write(person, b"y\n")
    _, errors = child.communicate()
    if child.returncode:
        sys.exit(errors.decode())


def percentile(times, share):
    return sorted(times)[min(len(times) - 1, int(len(times) * share))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--brief", type=pathlib.Path, required=True)
    parser.add_argument("--runs", type=int, default=300)
    arguments = parser.parse_args()
    brief = str(arguments.brief.absolute())
    with tempfile.TemporaryDirectory() as work:
        work = os.path.realpath(work)
        environment = {"PATH": os.environ["PATH"], "HOME": f"{work}/home", "XDG_STATE_HOME": f"{work}/state"}
        os.makedirs(f"{work}/home")
        with_checks, without = f"{work}/checks", f"{work}/plain"
        lay_out(with_checks, rules())
        lay_out(without, plain(rules()))
        trust(brief, with_checks, environment)
        times = {with_checks: [], without: []}
        for number in range(arguments.runs):
            for top in times:  # in turn, so that the machine's moods meet both
                times[top].append(call(brief, top, environment, "let a = 2", number)[0])
        more = statistics.median(times[with_checks]) - statistics.median(times[without])
        print(f"100 checks, 3 apply: {statistics.median(times[without]):.2f} ms without, {more:+.2f} ms with them (bar 0.3)")
        loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY)]
        try:
            refused = [call(brief, with_checks, environment, "forbidden1", number) for number in range(arguments.runs)]
        finally:
            for loop in loops:
                loop.kill()
        if not all('"deny"' in answer for _, answer in refused):
            sys.exit(f"not refused: {sum('deny' not in answer for _, answer in refused)} of {len(refused)}: {refused[0][1]}")
        late = percentile([took for took, _ in refused], 0.99)
        print(f"a refused call beside {BUSY} busy loops: median {statistics.median([took for took, _ in refused]):.1f} ms, p99 {late:.1f} ms (bar 20)")
    return 1 if more > 0.3 or late > 20 else 0


if __name__ == "__main__":
    sys.exit(main())
