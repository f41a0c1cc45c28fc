"""Sends allowed calls to the hook of a project in which every rule blocks: none of them may be refused.

    python3 bench/benign.py --brief target/release/brief --rules conformance/checks/rules.json

The calls are those that real clients sent in their sessions (`crates/cli/tests/payloads`), the allowed examples of the rules, and 5,000 that are made from both:
other files, other texts, and commands that follow each other. A refusal is printed with its reason.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

from enforcement import trust
from run import write

TOP = pathlib.Path(__file__).resolve().parent.parent
PAYLOADS = TOP / "crates/cli/tests/payloads"
CLIENTS = {"claude": ("PreToolUse", "Bash", "Write", "file_path", "content"), "gemini": ("BeforeTool", "run_shell_command", "write_file", "file_path", "content"),
           "qwen": ("PreToolUse", "run_shell_command", "write_file", "file_path", "content"), "droid": ("PreToolUse", "Execute", "Create", "file_path", "content"),
           "copilot": ("preToolUse", "bash", "create", "path", "file_text")}
PLAIN = ["ls -la", "git status", "git diff --stat", "cat README.md", "grep -rn TODO src | head", "echo done", "mkdir -p build", "cd src && ls", "python3 -c 'print(1)'",
         "git log --oneline -5", "find . -name '*.py' | wc -l", "sed -n 1,20p src/a.ts", "git commit -m 'docs: tidy up'", "true", "date"]
TEXTS = ["let a = 1\n", "def f():\n    return 1\n", "# Notes\n\nNothing to see.\n", "a: 1\n", "import os\n", ""]
PATHS = ["src/a.ts", "src/api/b.py", "docs/notes.md", "lib/x/y.go", "README.md", "config/app.yaml"]


def rules_of(file):
    """Returns the rules of a table, each in force as strictly as it can be."""
    found = []
    for rule in json.loads(file.read_text())["rules"]:
        entry = {"content": rule["text"], "id": rule["id"], "check": rule["check"], "enforce": "deny"}
        entry.update({key: rule[key] for key in ("match", "exclude") if key in rule})
        broken = [plain for plain in rule["forbidden"] if set(plain) <= {"command", "text", "in", "create", "change", "delete", "message", "on", "skill"}]
        kept = [plain for plain in rule["allowed"] if set(plain) <= {"command", "text", "in", "create", "change", "delete", "message", "on", "skill"}]
        if broken and kept:
            found.append({**entry, "examples": {"broken": broken[:1], "kept": kept[:1]}})
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--brief", type=pathlib.Path, required=True)
    parser.add_argument("--rules", type=pathlib.Path, required=True)
    parser.add_argument("--calls", type=int, default=5000)
    arguments = parser.parse_args()
    brief, chance = str(arguments.brief.absolute()), random.Random(41)
    rules = rules_of(arguments.rules)
    with tempfile.TemporaryDirectory() as work:
        work = os.path.realpath(work)
        top = f"{work}/p"
        environment = {"PATH": os.environ["PATH"], "HOME": f"{work}/home", "XDG_STATE_HOME": f"{work}/state", "BRIEF_HOOK_DEADLINE": "10000"}
        os.makedirs(f"{work}/home")
        write(f"{top}/AGENTS.yaml", json.dumps({"context": rules}))
        write(f"{top}/src/a.ts", "let a = 1\n")
        subprocess.run(["git", "init", "-q", top], check=True)
        trust(brief, top, environment)

        def is_refused(client, event, payload):
            done = subprocess.run([brief, "hook", client, "--event", event], input=json.dumps(payload), cwd=top, env=environment, capture_output=True, text=True)
            return done.returncode == 2 or '"deny"' in done.stdout or '"hold"' in done.stdout, done

        def sent():
            for file in sorted(PAYLOADS.glob("*.jsonl")):
                client = file.name.split(".")[0].replace("copilot-claude", "copilot")
                for line in file.read_text().replace("{project}", top).replace("{home}", environment["HOME"]).splitlines():
                    line = json.loads(line)
                    payload = line["payload"]
                    event = line.get("event") or payload.get("hook_event_name") or payload.get("hookEventName") or payload.get("event") or payload.get("hookName", "")
                    yield client, event, payload

        def made():
            for number in range(arguments.calls):
                client = chance.choice(list(CLIENTS))
                event, shell, writes, path, text = CLIENTS[client]
                if chance.random() < 0.6:
                    lines = [chance.choice(PLAIN) for _ in range(chance.randint(1, 3))]
                    tool, given = shell, {"command": chance.choice([" && ", "; ", " || ", "\n"]).join(lines)}
                else:
                    tool, given = writes, {path: f"{top}/{chance.choice(PATHS)}", text: chance.choice(TEXTS) * chance.randint(1, 3)}
                payload = {"session_id": f"m{number % 50}", "hook_event_name": event, "cwd": top, "tool_name": tool, "tool_input": given}
                if client == "copilot":
                    payload["timestamp"] = number
                yield client, event, payload

        counts = {"sent": 0, "made": 0, "refused": 0}
        for kind, calls in (("sent", sent()), ("made", made())):
            for client, event, payload in calls:
                counts[kind] += 1
                refused, done = is_refused(client, event, payload)
                if refused:
                    counts["refused"] += 1
                    print(f"{client} {json.dumps(payload)[:300]}\n    {(done.stdout + done.stderr)[:600]}")
        print(f"{len(rules)} rules; {counts['sent']} calls of real clients and {counts['made']} made from them: {counts['refused']} refused")
        return 1 if counts["refused"] else 0


if __name__ == "__main__":
    sys.exit(main())
