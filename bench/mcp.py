#!/usr/bin/env python3
"""Measures `brief mcp`: the time of `context` with several clients, memory over many requests, and how soon a
changed file is told.

usage: mcp.py [--brief PROGRAM] [--requests N] [--clients N] [--pace MS] [--memory N]

It makes a project of its own, starts one server over HTTP, and asks it from several processes, each with one connection
that stays open and a pause between its requests: --pace 0 takes the pause away, and then the clients wait for each other.
Times are those of a client: from the first byte sent to the last one read. `cpu_ms` is the server's computing time for a
request, which other work on the machine changes little. Prints one line of JSON:

  {"context": {"clients", "requests", "p50_ms", "p99_ms", "max_ms", "cpu_ms"}, "alone": {…, one client},
   "memory": {"requests", "kib": [at the beginning, …, at the end]}, "change_ms": {"median", "max"}}
"""
import argparse
import json
import multiprocessing
import os
import pathlib
import random
import socket
import statistics
import subprocess
import tempfile
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
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.head = (f"POST /mcp HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n"
                     "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
                     "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: context\r\n")

    def context(self, path):
        """Asks, and returns the milliseconds."""
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "context", "arguments": {"path": path, "action": "edit"}, "_meta": META}})
        request = f"{self.head}Content-Length: {len(body)}\r\n\r\n{body}".encode()
        started = time.perf_counter()
        self.socket.sendall(request)
        text = b""
        while not complete(text):
            piece = self.socket.recv(1 << 16)
            assert piece, text
            text += piece
        elapsed = (time.perf_counter() - started) * 1000
        assert text.startswith(b"HTTP/1.1 200") and b"Rule 1 of part" in text, text[:300]
        return elapsed


def complete(text):
    """Returns whether a response is there as a whole."""
    head, found, body = text.partition(b"\r\n\r\n")
    if not found:
        return False
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    if b"content-length" in fields:
        return len(body) >= int(fields[b"content-length"])
    return body.endswith(b"0\r\n\r\n")


def ask(address, token, number, requests, pace):
    """The work of one client. Returns its times."""
    client, times = Client(address, token), []
    for turn in range(requests):
        if pace:
            time.sleep(random.uniform(0.5, 1.5) * pace / 1000)
        times.append(client.context(f"src/part{(number + turn) % 20}/a.py"))
    return times


def measure(server, address, token, clients, requests, pace):
    before = computing(server.pid)
    with multiprocessing.Pool(clients) as pool:
        each = [(address, token, number, requests // clients, pace) for number in range(clients)]
        times = sorted(time for own in pool.starmap(ask, each) for time in own)
    cpu = (computing(server.pid) - before) / len(times)
    return {"clients": clients, "requests": len(times), "p50_ms": round(times[len(times) // 2], 3),
            "p99_ms": round(times[int(len(times) * 0.99)], 3), "max_ms": round(times[-1], 3), "cpu_ms": round(cpu, 3)}


def computing(pid):
    """Returns the computing time of a process in milliseconds."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


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
    parser.add_argument("--pace", type=float, default=10)
    parser.add_argument("--memory", type=int, default=100_000)
    asked = parser.parse_args()
    brief = os.path.abspath(asked.brief)
    with tempfile.TemporaryDirectory() as directory:
        top = pathlib.Path(directory)
        project(top)
        # A project is not made in the second in which it is asked about: answers from newer files are not kept.
        time.sleep(2.1)
        server = subprocess.Popen([brief, "mcp", "--http", "0"], cwd=top, stderr=subprocess.PIPE, text=True)
        address = server.stderr.readline().split("http://")[1].split("/")[0]
        token = server.stderr.readline().split("Bearer ")[1].strip().rstrip("`")
        try:
            measure(server, address, token, asked.clients, 800, 0)
            result = {"context": measure(server, address, token, asked.clients, asked.requests, asked.pace),
                      "alone": measure(server, address, token, 1, asked.requests // asked.clients, 0)}
            kib = [resident(server.pid)]
            for _ in range(5):
                measure(server, address, token, asked.clients, asked.memory // 5, 0)
                kib.append(resident(server.pid))
            result["memory"] = {"requests": asked.memory, "kib": kib}
        finally:
            server.kill()
        result["change_ms"] = changes(brief, top)
        print(json.dumps(result))


main()
