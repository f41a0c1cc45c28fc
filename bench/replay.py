#!/usr/bin/env python3
"""Times `brief replay` of 1,000 sessions of 2 MB beside `rg -c .` over the same files, and once more when nothing is new.

    python3 bench/replay.py PROGRAM [--sessions N] [--work DIRECTORY]

The sessions have the shape of Claude Code's: prompts, reads with long results, edits, shell commands, and requests that repeat the
conversation. Bounds: 4 times `rg`, 0.3 s for a second run, 100 MB.
"""

import argparse
import json
import os
import pathlib
import resource
import shutil
import subprocess
import tempfile
import time

RULES = """context:
  - content: Use pnpm here.
    check: {forbid: {command: [npm, yarn]}}
  - content: Do not import antd.
    match: ["**/*.ts"]
    check: {forbid: {text: "from 'antd'"}}
  - content: Prices are cents.
    match: ["**/*.py"]
"""


def write_session(path, project, number, size):
    """Writes a session of about `size` bytes."""
    session = f"{number:08x}-0000-4000-8000-000000000000"
    start = time.time() - 3600 + number
    written = 0
    with open(path, "w", encoding="utf-8") as file:

        def add(kind, **body):
            nonlocal written
            stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(start)) + ".000Z"
            record = {"type": kind, "uuid": f"{number}-{written}", "sessionId": session, "cwd": project, "version": "2.1.328",
                      "gitBranch": "main", "timestamp": stamp, **body}
            written += file.write(json.dumps(record) + "\n")

        add("user", promptId="p", message={"role": "user", "content": "please"})
        step = 0
        while written < size:
            step += 1
            name = f"{project}/src/m{step % 40}/f{step % 7}.ts"
            calls = [
                ("Read", {"file_path": name}, {"type": "text", "file": {"filePath": name, "content": "let value = 1;\n" * 900}}),
                ("Edit", {"file_path": name, "old_string": "let value = 1;", "new_string": "let value = 2;"},
                 {"filePath": name, "oldString": "let value = 1;", "newString": "let value = 2;", "originalFile": "let value = 1;\n" * 300,
                  "structuredPatch": [{"oldStart": 1, "newStart": 1, "lines": ["-let value = 1;", "+let value = 2;"]}]}),
                ("Bash", {"command": "pnpm test && git status"}, {"stdout": "ok\n" * 400}),
            ]
            for index, (tool, arguments, result) in enumerate(calls):
                call = f"toolu_{number}_{step}_{index}"
                add("assistant", message={"id": f"m{step}{index}", "content": [{"type": "tool_use", "id": call, "name": tool, "input": arguments}]})
                text = result.get("stdout") or result.get("file", {}).get("content", "done")
                add("user", message={"content": [{"type": "tool_result", "tool_use_id": call, "content": text}]}, toolUseResult=result)
            written += file.write(json.dumps({"type": "api-request-blob", "message": "x" * 4000}) + "\n")


def timed(command, environment, cwd):
    begun = time.monotonic()
    subprocess.run(command, env=environment, cwd=cwd, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - begun


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--sessions", type=int, default=1000)
    parser.add_argument("--bytes", type=int, default=2_000_000)
    parser.add_argument("--work", type=pathlib.Path)
    args = parser.parse_args()
    work = args.work or pathlib.Path(tempfile.mkdtemp(prefix="replay-"))
    project, home = work / "project", work / "home"
    records = home / ".claude/projects/-project"
    for directory in (project, records):
        directory.mkdir(parents=True, exist_ok=True)
    (project / "AGENTS.yaml").write_text(RULES)
    (project / ".git").mkdir(exist_ok=True)
    for number in range(args.sessions):
        write_session(records / f"{number}.jsonl", str(project.resolve()), number, args.bytes)
    environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
    search = ["rg", "-c", ".", str(records)]
    replay = [str(args.program.resolve()), "replay", "--json"]
    timed(search, environment, project)
    floor = min(timed(search, environment, project) for _ in range(3))
    shutil.rmtree(home / ".cache", ignore_errors=True)
    first = timed(replay, environment, project)
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    again = min(timed(replay, environment, project) for _ in range(3))
    print(f"rg -c .            {floor:.2f} s")
    print(f"replay, all new    {first:.2f} s  {first / floor:.1f} times (bound 4)")
    print(f"replay, none new   {again:.2f} s  (bound 0.3)")
    print(f"memory             {memory:.0f} MB  (bound 100)")
    if not args.work:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
