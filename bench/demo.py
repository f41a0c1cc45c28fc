#!/usr/bin/env python3
"""Runs Claude Code twice with the same prompt, before and after `brief hook install claude`, and draws what a terminal shows.

`cargo xtask demo` calls this. The client, the hook, `brief` and git are real, and every line of the picture is what a command printed. The model is
a script: it reads the file, and changes it as the rule says if, and only if, the rule is in its request. So the picture shows what reaches a
model; how well a model follows a rule, it does not show.
"""

import argparse
import html
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

from lab.model import Model, Step, conversation_of
from lab.session import end_daemons, free_port, install
from lab.table import CLIENTS, filled, version

RULE = "Never log a whole card number. Log its last four digits."
BEFORE = "def pay(card, cents):\n    ...\n"
IGNORED = '    log.info("paid %d with %s", cents, card)\n'
FOLLOWED = '    log.info("paid %d with %s", cents, card[-4:])\n'
FILES = {
    "CLAUDE.md": "Prices are integers in cents.\n",
    ".cursor/rules/payments.mdc": f"---\nglobs: src/api/**/*.py\n---\n\n{RULE}\n",
    "src/api/pay.py": BEFORE,
}
ASK = "claude -p 'log each payment in src/api/pay.py'"
SHOW = "git diff -U0 | grep '^+ '"
SCREEN = [
    f"{ASK}; {SHOW}",
    "brief show src/api/pay.py",
    "brief hook install claude",
    f"git checkout -q .; {ASK}; {SHOW}",
]
WIDTH, LINE, LETTER, TOP = 880, 21, 8.8, 58
COLORS = {"command": "#e6edf3", "output": "#9da7b3", "bad": "#ff7b72", "good": "#7ee787"}


class Follower:
    """A model that reads the file and then changes it, by the rule if the request holds the rule."""

    def __init__(self, path):
        self.path, self.lock, self.seen = str(path), threading.Lock(), []
        self.latest = time.monotonic()

    def answer(self, body):
        with self.lock:
            if conversation_of(body)[1]:
                return None
            has_rule = RULE in json.dumps(body, ensure_ascii=False)
            self.seen.append(has_rule)
            if len(self.seen) == 1:
                return Step("read", [("Read", {"file_path": self.path})])
            if len(self.seen) == 2:
                line = FOLLOWED if has_rule else IGNORED
                new = BEFORE.replace("    ...\n", line).rstrip("\n")
                return Step("edit", [("Edit", {"file_path": self.path, "old_string": BEFORE.rstrip("\n"), "new_string": new})])
            return None

    def most_tokens(self):
        return 9


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--brief", type=pathlib.Path, required=True)
    parser.add_argument("--into", type=pathlib.Path, required=True, help="the directory of the installed clients")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="the picture")
    arguments = parser.parse_args()
    problem = install("claude", arguments.into)
    if problem:
        raise SystemExit(f"claude: not installed: {problem}")
    with tempfile.TemporaryDirectory(prefix="demo-", ignore_cleanup_errors=True) as scratch:
        screen = play(pathlib.Path(scratch).resolve(), arguments.brief.absolute(), arguments.into.absolute())
    arguments.out.write_text(draw(screen), encoding="utf-8")
    print(f"written: {arguments.out}, with Claude Code {version('claude')}")
    return 0


def play(scratch, brief, clients):
    """Returns the commands, each with the lines that it printed."""
    project, home, programs = scratch / "shop", scratch / "home", scratch / "bin"
    for directory in (project, home, programs):
        directory.mkdir()
    for path, text in FILES.items():
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text(text)
    client = CLIENTS["claude"]
    options = " ".join(f"'{word}'" for word in client["run"][3:])
    real = clients / "claude" / "node_modules" / ".bin" / "claude"
    (programs / "claude").write_text(f"#!/bin/sh\nexec '{real}' \"$@\" {options}\n")
    (programs / "claude").chmod(0o755)
    (programs / "brief").symlink_to(brief)
    node = clients / "node" / "node_modules" / "node" / "bin"
    word = scratch.name
    environment = {"PATH": f"{programs}:{node}:{os.environ['PATH']}", "HOME": str(home), "LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1",
                   "COLUMNS": "96", "CLIENTS_RUN": word, "GIT_CONFIG_NOSYSTEM": "1",
                   # The machine may be busy: a hook that gives up says nothing about the client.
                   "BRIEF_HOOK_DEADLINE": "60000"}
    for git in (["init", "-q", "-b", "main"], ["add", "-A"], ["-c", "user.name=You", "-c", "user.email=you@example.com", "commit", "-qm", "shop"]):
        subprocess.run(["git", *git], cwd=project, env=environment, check=True)
    screen, sightings = [], []
    with Model() as model:
        words = {"root": model.root, "url": f"{model.root}/v1", "project": str(project), "free": free_port()}
        environment |= filled(client.get("env", {}), words)
        for command in SCREEN:
            script = Follower(project / "src/api/pay.py")
            model.play(script)
            done = subprocess.run(["sh", "-c", command], cwd=project, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
            end_daemons(word)
            lines = [line.rstrip() for line in (done.stdout + done.stderr).splitlines()]
            screen.append((command, lines))
            if "claude -p" in command:
                sightings.append(any(script.seen))
    if sightings != [False, True]:
        raise SystemExit(f"the rule reached the model: {sightings}; it should not at first, and then it should\n{screen}")
    if IGNORED.strip() not in "".join(screen[0][1]) or FOLLOWED.strip() not in "".join(screen[3][1]):
        raise SystemExit(f"the file was not changed as the model said\n{screen}")
    return screen


def draw(screen):
    """Returns the picture of a terminal."""
    rows = []
    for command, lines in screen:
        rows.append(("command", f"$ {command}"))
        for line in lines:
            kind = "bad" if IGNORED.strip() in line or "missing (" in line else "good" if FOLLOWED.strip() in line else "output"
            # The table's sums and hints would only be noise here.
            if line.startswith(("tokens in all", "loaded ", "missing ", "delivered ")):
                continue
            rows.append((kind, line))
        while rows[-1][1] == "":
            rows.pop()
        rows.append(("output", ""))
    height = TOP + LINE * len(rows)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-labelledby="title">',
        "<title id=\"title\">A terminal: Claude Code with the same prompt, before and after brief hook install claude</title>",
        f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#0d1117"/>',
        *(f'<circle cx="{x}" cy="20" r="6" fill="{color}"/>' for x, color in ((22, "#ff5f56"), (42, "#ffbd2e"), (62, "#27c93f"))),
        '<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14">',
    ]
    for number, (kind, line) in enumerate(rows):
        if line:
            y = TOP + LINE * number
            width = f'{len(line) * LETTER:.0f}'
            # Other spaces would be folded.
            shown = html.escape(line, quote=False).replace(" ", "\u00a0")
            parts.append(f'<text x="16" y="{y}" fill="{COLORS[kind]}" textLength="{width}" lengthAdjust="spacingAndGlyphs">{shown}</text>')
    return "\n".join([*parts, "</g>", "</svg>", ""])


if __name__ == "__main__":
    sys.exit(main())
