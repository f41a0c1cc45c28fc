#!/usr/bin/env python3
"""Measures `brief lsp` in a repository of many files: the time from a keystroke to its problems, of a hover, and memory.

usage: lsp.py [--brief PROGRAM] [--files N] [--keys N]

It makes a repository, opens its `AGENTS.yaml`, and types: every keystroke makes or mends a misspelled key, so that each has to
change the problems that the editor shows. Prints one line of JSON:

  {"files": N, "first_ms": until the first problems of the whole, "keystroke_ms": {"p50", "p99", "max"},
   "hover_ms": {"p50", "p99"}, "kib": peak}
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time


def project(top, files):
    subprocess.run(["git", "init", "-q", top], check=True)
    for number in range(files // 100):
        directory = top / f"src/part{number // 30}/unit{number}"
        directory.mkdir(parents=True)
        for file in range(100):
            (directory / f"f{file}.py").touch()
        if number % 50 == 0:
            (directory / "AGENTS.yaml").write_text("context:\n  - {content: Rule., match: ['*.py']}\n")
    entries = "".join(f"  - content: Rule {number}.\n    match: ['src/part{number}/**']\n" for number in range(10))
    (top / "AGENTS.yaml").write_text("context:\n" + entries)


class Editor:
    def __init__(self, brief, top):
        self.server = subprocess.Popen([brief, "lsp"], cwd=top, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.uri, self.last = f"file://{top}/AGENTS.yaml", 0

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.server.stdin.flush()

    def receive(self):
        length = 0
        while (line := self.server.stdout.readline()) != b"\r\n":
            length = int(line.split(b":")[1])
        return json.loads(self.server.stdout.read(length))

    def ask(self, method, params):
        self.last += 1
        self.send({"id": self.last, "method": method, "params": params})
        while (message := self.receive()).get("id") != self.last:
            pass
        return message["result"]

    def problems(self, fits):
        """Waits for problems of the file that fit."""
        while True:
            message = self.receive()
            params = message.get("params", {})
            if message.get("method") == "textDocument/publishDiagnostics" and params["uri"] == self.uri:
                if fits(params["diagnostics"]):
                    return


def shown(times):
    times = sorted(times)
    return {"p50": round(times[len(times) // 2], 2), "p99": round(times[int(len(times) * 0.99)], 2), "max": round(times[-1], 2)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--brief", default="target/dist/brief")
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--keys", type=int, default=300)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        top = pathlib.Path(os.path.realpath(directory))
        project(top, asked.files)
        editor = Editor(os.path.abspath(asked.brief), top)
        editor.ask("initialize", {"rootUri": f"file://{top}", "capabilities": {}})
        editor.send({"method": "initialized", "params": {}})
        text = (top / "AGENTS.yaml").read_text()
        started = time.perf_counter()
        editor.send({"method": "textDocument/didOpen", "params": {
            "textDocument": {"uri": editor.uri, "languageId": "yaml", "version": 1, "text": text}}})
        # The pattern of a directory that is not there is only seen in the whole.
        place = {"textDocument": {"uri": editor.uri}, "position": {"line": 1, "character": 6}}
        editor.ask("textDocument/hover", place)
        first = (time.perf_counter() - started) * 1000
        keys, hovers = [], []
        for turn in range(asked.keys):
            letter, is_wrong = ("a", True) if turn % 2 == 0 else ("e", False)
            change = {"range": {"start": {"line": 1, "character": 8}, "end": {"line": 1, "character": 9}}, "text": letter}
            started = time.perf_counter()
            editor.send({"method": "textDocument/didChange", "params": {
                "textDocument": {"uri": editor.uri, "version": turn + 2}, "contentChanges": [change]}})
            editor.problems(lambda found: any("unknown-field" in problem["code"] for problem in found) == is_wrong)
            keys.append((time.perf_counter() - started) * 1000)
            time.sleep(0.01)
        editor.ask("textDocument/hover", place)
        for _ in range(100):
            started = time.perf_counter()
            editor.ask("textDocument/hover", place)
            hovers.append((time.perf_counter() - started) * 1000)
        status = pathlib.Path(f"/proc/{editor.server.pid}/status").read_text()
        kib = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
        editor.ask("shutdown", None)
        editor.send({"method": "exit", "params": None})
        editor.server.wait(10)
        print(json.dumps({"files": asked.files, "first_ms": round(first), "keystroke_ms": shown(keys),
                          "hover_ms": shown(hovers), "kib": kib}))


main()
