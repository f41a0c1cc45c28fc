#!/usr/bin/env python3
"""Measures `brief mcp`: the time of `context` with several clients, memory over many requests, and how soon a
changed file is told.

usage: mcp.py [--brief PROGRAM] [--requests N] [--clients N] [--memory N]

It makes a project of its own, starts one server over HTTP, and asks it from several clients at once, each with one
connection that stays open. Times are those of a client: from the first byte sent to the last one read. Prints one
line of JSON:

  {"context": {"clients", "requests", "p50_ms", "p99_ms", "max_ms"},
   "alone": {…, one client}, "memory": {"requests", "before_kib", "after_kib"}, "change_ms": {"median", "max"}}
"""
import argparse
import http.client
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import threading
import time

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


def project(top):
    """Writes a project with guidance in every directory."""
    subprocess.run(["git", "init", "-q", top], check=True)
    for number in range(20):
        directory = top / f"src/part{number}"
        directory.mkdir(parents=True)
        (directory / "AGENTS.yaml").write_text("context:\n" + "".join(
            f"  - {{content: Rule {entry} of part {number}., match: ['*.{'py' if entry % 2 else 'ts'}']}}\n" for entry in range(10)))
        (directory / "a.py").write_text("")
    (top / "CLAUDE.md").write_text("Be brief.\n")
    for number in range(20):
        skill = top / f".claude/skills/s{number}"
        skill.mkdir(parents=True)
        (skill / "SKILL.md").write_text(f"---\nname: s{number}\ndescription: Does {number}\n---\nText.\n")
    (top / ".agents/tasks").mkdir(parents=True)
    (top / ".agents/tasks/fix.md").write_text("Fix it.\n")


class Client:
    """One connection."""

    def __init__(self, address, token):
        self.connection = http.client.HTTPConnection(address)
        self.token = token

    def context(self, path):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "context", "arguments": {"path": path, "action": "edit"}, "_meta": META}})
        started = time.perf_counter()
        self.connection.request("POST", "/mcp", body, {
            "Authorization": f"Bearer {self.token}", "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call", "Mcp-Name": "context"})
        answer = self.connection.getresponse()
        text = answer.read()
        elapsed = (time.perf_counter() - started) * 1000
        assert answer.status == 200 and b"Rule 1 of part" in text, (answer.status, text[:200])
        return elapsed


def measure(address, token, clients, requests):
    times = []

    def ask(number):
        client = Client(address, token)
        for turn in range(requests // clients):
            times.append(client.context(f"src/part{(number + turn) % 20}/a.py"))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(clients)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    times.sort()
    return {"clients": clients, "requests": len(times), "p50_ms": round(times[len(times) // 2], 3),
            "p99_ms": round(times[int(len(times) * 0.99)], 3), "max_ms": round(times[-1], 3)}


def resident(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    return 0


def changes(brief, top):
    """Returns how long after a write a client on standard input and output is told, in milliseconds."""
    server = subprocess.Popen([brief, "mcp"], cwd=top, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def send(message):
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        server.stdin.flush()

    send({"id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}})
    server.stdout.readline()
    send({"method": "notifications/initialized"})
    send({"id": 2, "method": "prompts/list"})
    server.stdout.readline()
    time.sleep(0.5)
    times = []
    for number in range(20):
        started = time.perf_counter()
        (top / f".agents/tasks/new{number}.md").write_text("New.\n")
        while "prompts/list_changed" not in server.stdout.readline():
            pass
        times.append((time.perf_counter() - started) * 1000)
        time.sleep(0.1)
    server.stdin.close()
    server.wait()
    return {"median": round(statistics.median(times), 1), "max": round(max(times), 1)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--brief", default="target/dist/brief")
    parser.add_argument("--requests", type=int, default=8000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--memory", type=int, default=100_000)
    asked = parser.parse_args()
    brief = os.path.abspath(asked.brief)
    with tempfile.TemporaryDirectory() as directory:
        top = pathlib.Path(directory)
        project(top)
        server = subprocess.Popen([brief, "mcp", "--http", "0"], cwd=top, stderr=subprocess.PIPE, text=True)
        address = server.stderr.readline().split("http://")[1].split("/")[0]
        token = server.stderr.readline().split("Bearer ")[1].strip().rstrip("`")
        try:
            measure(address, token, 2, 400)
            result = {"context": measure(address, token, asked.clients, asked.requests),
                      "alone": measure(address, token, 1, asked.requests // asked.clients)}
            before = resident(server.pid)
            measure(address, token, asked.clients, asked.memory)
            result["memory"] = {"requests": asked.memory, "before_kib": before, "after_kib": resident(server.pid)}
        finally:
            server.kill()
        result["change_ms"] = changes(brief, top)
        print(json.dumps(result))


main()
