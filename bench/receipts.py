"""The receipts of 10,000 sessions, and the time of questions about them.

The floor is a program that reads the same bytes once and looks for a word in them.
"""

import glob
import json
import os
import shutil
import subprocess
import time

SESSIONS = 10_000
DAYS = 30


def record_session(args, project, home):
    """Returns the receipts of a session as the hook writes them: the start, a read, an edit, a creation, and four more reads."""
    environment = {**os.environ, "HOME": home, "XDG_STATE_HOME": os.path.join(home, "state")}
    path = os.path.join(project, "src/api/orders.py")
    events = [
        {"hook_event_name": "SessionStart", "source": "startup"},
        {"hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {"file_path": path}, "tool_use_id": "toolu_1"},
        {"hook_event_name": "PostToolUse", "tool_name": "Read", "tool_input": {"file_path": path}, "tool_use_id": "toolu_1"},
        {"hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_input": {"file_path": path}, "tool_use_id": "toolu_2"},
        {"hook_event_name": "PostToolUse", "tool_name": "Edit", "tool_input": {"file_path": path}, "tool_use_id": "toolu_2"},
        {"hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": {"file_path": path + "x.py"}, "tool_use_id": "toolu_3"},
    ]
    for number, name in enumerate(["src/main.go", "src/api/page.ts", "src/lib.rs", "README.md"], 4):
        of = {"tool_name": "Read", "tool_input": {"file_path": os.path.join(project, name)}, "tool_use_id": f"toolu_{number}"}
        events += [{"hook_event_name": event, **of} for event in ("PreToolUse", "PostToolUse")]
    for event in events:
        payload = {"session_id": "SESSION", "cwd": project, "transcript_path": "/home/me/.claude/projects/-p/SESSION.jsonl", **event}
        subprocess.run([args.brief, "hook", "claude"], input=json.dumps(payload), text=True, env=environment, cwd=project, check=True,
                       stdout=subprocess.DEVNULL)
    lines = []
    for file in glob.glob(os.path.join(home, "state/brief/receipts/*.jsonl")):
        with open(file, encoding="utf-8") as receipts:
            lines += receipts.read().splitlines()
    return lines


def measure_receipts(args, report, cpu_ms, project):
    home = os.path.join(args.work, "receipts-home")
    shutil.rmtree(home, ignore_errors=True)
    os.makedirs(home)
    lines = record_session(args, project, home)
    directory = os.path.join(home, "state/brief/receipts")
    shutil.rmtree(directory)
    os.makedirs(directory)
    today = int(time.time()) // 86_400
    size = 0
    for day in range(DAYS):
        with open(os.path.join(directory, f"{today - day}.jsonl"), "w", encoding="utf-8") as file:
            for number in range(day, SESSIONS, DAYS):
                name = f"{number:08x}-5c0e-4ee2-8603-38e36c13d5a9"
                size += file.write("".join(line.replace("SESSION.", f"{name}.").replace('"SESSION"', f'"{name}"') + "\n" for line in lines))
    os.environ["XDG_STATE_HOME"] = os.path.join(home, "state")
    files = sorted(glob.glob(os.path.join(directory, "*.jsonl")))
    runs = max(args.runs // 4, 3)
    floor = cpu_ms([shutil.which("grep"), "-c", "-F", "src/api/orders.py", *files], project, runs)
    print(f"{'receipts of 10,000 sessions':44} {size / 1e6:8.1f} MB, {len(lines) * SESSIONS:,} receipts; one reading of them takes {floor:.0f} ms")
    for name, question in [("one session", ["00000123"]), ("one file, as JSON", ["src/api/orders.py", "--json"]),
                           ("all, as JSON", ["--json"]), ("items without a delivery", ["--unused"])]:
        value = cpu_ms([args.brief, "log", *question], project, runs)
        report(f"log, {name} of 10,000 sessions", value, f"1,000 ms ({value / floor:.1f} x one reading)", value <= 1000)
    del os.environ["XDG_STATE_HOME"]


if __name__ == "__main__":
    import argparse

    import run

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--brief", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--runs", type=int, default=20)
    given = parser.parse_args()
    place = os.path.join(given.work, "hook")
    run.make_hook_project(place)
    measure_receipts(given, lambda name, value, bound, ok: print(f"{name:44} {value:8.0f} ms   {bound}{'' if ok else '  MISSED'}"), run.cpu_ms, place)
