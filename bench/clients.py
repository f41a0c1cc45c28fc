#!/usr/bin/env python3
"""Runs real coding agents against a scripted model, and checks what their hooks bring to it.

`cargo xtask clients` calls this. It installs each client with npm in a pinned version, sets its hook up with
`brief hook install`, lets it read, edit and create a file, and looks for marked guidance in the requests that the
client makes: everything has to arrive, once, and what is for before a change before that change. A second run with
`--hold` makes the changes without a read. Then a `brief` that is missing, crashes, hangs or answers nonsense takes the place
of the real one: the client has to do all of its work. The tables go to docs/clients.md.

No account is needed: every client talks to a server on this machine. Python 3.11 and npm are.
"""

import argparse
import datetime
import gzip
import http.server
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import uuid

NODE = "24.21.0"  # some clients need a newer Node than distributions have
READ, CREATED = "src/api/a.py", "src/api/new.py"
MARKS = {
    "read-before": None, "read-after": None, "edit-before": "edit", "edit-after": None,
    "create-before": "create", "create-after": None, "always": "edit", "task-rule": "edit",
    "cursor-rule": "edit", "copilot-rule": "edit",
}

# The clients. In arguments, settings and variables {root} is the server, {url} the same with /v1, {project} the
# project and {prompt} the user's words; in tools {path} is absolute and {near} relative to the start directory.
STUB = {"name": "stub", "tool_call": True, "limit": {"context": 128000, "output": 8000}}
PROVIDER = {
    "model": "stub/stub", "small_model": "stub/stub", "autoupdate": False,
    "provider": {"stub": {"npm": "@ai-sdk/openai-compatible", "name": "stub", "models": {"stub": STUB},
                          "options": {"baseURL": "{url}", "apiKey": "none"}}},
}
OPENCODE = {
    "read": ("read", {"filePath": "{path}"}),
    "edit": ("edit", {"filePath": "{path}", "oldString": "{old}", "newString": "{new}"}),
    "create": ("write", {"filePath": "{path}", "content": "{new}"}),
}
PI_MODEL = {"id": "stub", "name": "stub", "reasoning": False, "input": ["text"], "contextWindow": 128000,
            "maxTokens": 8000, "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}
CLIENTS = {
    "claude": {
        "package": "@anthropic-ai/claude-code@2.1.325", "node": True,
        "run": ["claude", "-p", "{prompt}", "--dangerously-skip-permissions"],
        "env": {"ANTHROPIC_BASE_URL": "{root}", "ANTHROPIC_API_KEY": "none", "IS_SANDBOX": "1",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"},
        "tools": {"read": ("Read", {"file_path": "{path}"}),
                  "edit": ("Edit", {"file_path": "{path}", "old_string": "{old}", "new_string": "{new}"}),
                  "create": ("Write", {"file_path": "{path}", "content": "{new}"})},
    },
    "codex": {
        "package": "@openai/codex@0.166.0",
        "run": ["codex", "exec", "-c",
                'model_providers.stub={name="stub",base_url="{url}",env_key="STUB_KEY",wire_api="responses"}',
                "-c", 'model_provider="stub"', "-c", 'model="gpt-5.5"', "-c", "analytics.enabled=false",
                "-c", "check_for_update_on_startup=false",
                "-c", 'projects={"{project}"={trust_level="trusted"}}',
                "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust",
                "--skip-git-repo-check", "{prompt}"],
        "env": {"STUB_KEY": "none"},
        "tools": {"read": ("exec_command", {"cmd": "cat {near}"}),
                  "edit": ("apply_patch", "*** Begin Patch\n*** Update File: {near}\n@@\n-{old}\n+{new}\n*** End Patch"),
                  "create": ("apply_patch", "*** Begin Patch\n*** Add File: {near}\n+{new}\n*** End Patch")},
    },
    "gemini": {
        "package": "@google/gemini-cli@0.61.0",
        "run": ["gemini", "-m", "gemini-2.5-flash", "--yolo", "-p", "{prompt}"],
        "env": {"GOOGLE_GEMINI_BASE_URL": "{root}", "GEMINI_API_KEY": "none", "GEMINI_CLI_TRUST_WORKSPACE": "true"},
        "settings": {".gemini/settings.json": {"security": {"auth": {"selectedType": "gemini-api-key"}}}},
        "tools": {"read": ("read_file", {"file_path": "{path}"}),
                  "edit": ("replace", {"file_path": "{path}", "instruction": "change it", "old_string": "{old}",
                                       "new_string": "{new}"}),
                  "create": ("write_file", {"file_path": "{path}", "content": "{new}"})},
    },
    "opencode": {
        "package": "opencode-ai@1.18.33", "run": ["opencode", "run", "{prompt}"],
        "env": {"OPENCODE_DISABLE_MODELS_FETCH": "1"},
        "settings": {".config/opencode/opencode.json": PROVIDER}, "tools": OPENCODE,
    },
    "kilo": {
        "package": "@kilocode/cli@7.7.7", "run": ["kilo", "run", "--auto", "{prompt}"],
        "settings": {".config/kilo/kilo.json": PROVIDER}, "tools": OPENCODE,
    },
    "copilot": {
        "package": "@github/copilot@1.0.102",
        "run": ["copilot", "-p", "{prompt}", "--allow-all-tools", "--trust-folder"],
        "env": {"COPILOT_PROVIDER_BASE_URL": "{url}", "COPILOT_PROVIDER_API_KEY": "none", "COPILOT_MODEL": "stub",
                "COPILOT_OFFLINE": "true"},
        "tools": {"read": ("view", {"path": "{path}"}),
                  "edit": ("edit", {"path": "{path}", "old_str": "{old}", "new_str": "{new}"}),
                  "create": ("create", {"path": "{path}", "file_text": "{new}"})},
    },
    "qwen": {
        "package": "@qwen-code/qwen-code@0.24.4", "node": True,
        "run": ["qwen", "--auth-type", "openai", "--yolo", "-p", "{prompt}"],
        "env": {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": "{url}", "OPENAI_MODEL": "stub"},
        "tools": {"read": ("read_file", {"file_path": "{path}", "absolute_path": "{path}"}),
                  "edit": ("edit", {"file_path": "{path}", "old_string": "{old}", "new_string": "{new}"}),
                  "create": ("write_file", {"file_path": "{path}", "content": "{new}"})},
        "edits_after_read": True,
    },
    "pi": {
        "package": "@earendil-works/pi-coding-agent@0.87.1", "node": True,
        "run": ["pi", "-a", "--offline", "--provider", "stub", "--model", "stub", "-p", "{prompt}"],
        "settings": {".pi/agent/models.json": {"providers": {"stub": {
            "baseUrl": "{url}", "api": "openai-completions", "apiKey": "none", "models": [PI_MODEL]}}}},
        "tools": {"read": ("read", {"path": "{path}"}),
                  "edit": ("edit", {"path": "{path}", "edits": [{"oldText": "{old}", "newText": "{new}"}]}),
                  "create": ("write", {"path": "{path}", "content": "{new}"})},
    },
    "cline": {
        "package": "cline@3.0.65",
        "before": ["cline", "auth", "-p", "openai", "-k", "none", "-m", "stub", "-b", "{url}"],
        "run": ["cline", "-P", "openai-compatible", "-m", "stub", "{prompt}"],
        "env": {"CLINE_HUB_PORT": "{free}"},  # its daemon outlives it
        "tools": {"read": ("read_files", {"files": [{"path": "{path}"}]}),
                  "edit": ("editor", {"path": "{path}", "old_text": "{old}", "new_text": "{new}"}),
                  "create": ("editor", {"path": "{path}", "new_text": "{new}"})},
        "cannot_hold": True,
    },
    "droid": {
        "package": "droid@0.215.0", "run": ["droid", "exec", "--auto", "high", "-m", "custom:stub-0", "{prompt}"],
        "settings": {".factory/settings.json": {"customModels": [{
            "model": "stub", "displayName": "stub", "baseUrl": "{url}", "apiKey": "none",
            "provider": "generic-chat-completion-api", "maxOutputTokens": 8000}]}},
        "tools": {"read": ("Read", {"file_path": "{path}"}),
                  "edit": ("Edit", {"file_path": "{path}", "old_str": "{old}", "new_str": "{new}"}),
                  "create": ("Create", {"file_path": "{path}", "content": "{new}"})},
    },
}


def filled(value, words):
    """Puts words in braces into every text of a value."""
    if isinstance(value, str):
        return re.sub(r"\{(\w+)\}", lambda match: words.get(match[1], match[0]), value)
    if isinstance(value, dict):
        return {key: filled(item, words) for key, item in value.items()}
    return [filled(item, words) for item in value] if isinstance(value, list) else value


# The model


class Script:
    """Plays steps, one for each request with tools. A change that did not happen is asked for once more."""

    def __init__(self, steps):
        self.steps, self.at, self.tries, self.lock = steps, 0, 0, threading.Lock()
        self.requests, self.asked = [], {}

    def answer(self, body):
        """Records a request; returns the tool and its input, or None for the end."""
        with self.lock:
            self.requests.append(json.dumps(body))
            if not body.get("tools"):
                return None
            while self.at < len(self.steps):
                step = self.steps[self.at]
                if self.tries and (step["is_done"]() or self.tries > 1):
                    self.at, self.tries = self.at + 1, 0
                    continue
                self.tries += 1
                self.asked.setdefault(step["do"], []).append(len(self.requests))
                return step["tool"], step["input"]
            return None


def messages(call, _):
    """Anthropic Messages, as a stream."""
    block = {"type": "text", "text": ""}
    delta = {"type": "text_delta", "text": "done"}
    if call:
        block = {"type": "tool_use", "id": f"toolu_{uuid.uuid4().hex[:12]}", "name": call[0], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
    usage = {"input_tokens": 9, "output_tokens": 9}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "stub", "content": [],
               "stop_reason": None, "stop_sequence": None, "usage": usage}
    end = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
    return [
        ("message_start", {"message": message}),
        ("content_block_start", {"index": 0, "content_block": block}),
        ("content_block_delta", {"index": 0, "delta": delta}),
        ("content_block_stop", {"index": 0}),
        ("message_delta", {"delta": end, "usage": {"output_tokens": 9}}),
        ("message_stop", {}),
    ]


def responses(call, _):
    """OpenAI Responses, as a stream."""
    item = {"type": "message", "id": "m", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": "done", "annotations": []}]}
    if call:
        name, given = call
        item = {"id": "i", "call_id": f"call_{uuid.uuid4().hex[:12]}", "name": name, "status": "completed"}
        if isinstance(given, str):
            item |= {"type": "custom_tool_call", "input": given}
        else:
            item |= {"type": "function_call", "arguments": json.dumps(given)}
    usage = {"input_tokens": 9, "output_tokens": 9, "total_tokens": 18, "input_tokens_details": {"cached_tokens": 0},
             "output_tokens_details": {"reasoning_tokens": 0}}
    whole = {"id": "r", "object": "response", "status": "completed", "model": "stub", "output": [item], "usage": usage}
    return [
        ("response.created", {"response": {**whole, "status": "in_progress", "output": []}}),
        ("response.output_item.added", {"output_index": 0, "item": item}),
        ("response.output_item.done", {"output_index": 0, "item": item}),
        ("response.completed", {"response": whole}),
    ]


def chat(call, is_stream):
    """OpenAI Chat Completions."""
    message = {"role": "assistant", "content": "done"}
    if call:
        function = {"name": call[0], "arguments": json.dumps(call[1])}
        tool = {"index": 0, "id": f"call_{uuid.uuid4().hex[:12]}", "type": "function", "function": function}
        message = {"role": "assistant", "content": None, "tool_calls": [tool]}
    head = {"id": "c", "created": 1, "model": "stub"}
    reason = "tool_calls" if call else "stop"
    usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
    if not is_stream:
        choice = {"index": 0, "message": message, "finish_reason": reason}
        return {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
    head["object"] = "chat.completion.chunk"
    return [
        (None, {**head, "choices": [{"index": 0, "delta": message, "finish_reason": None}]}),
        (None, {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}),
        (None, "[DONE]"),
    ]


def gemini(call, is_stream):
    """Gemini's generateContent."""
    part = {"functionCall": {"name": call[0], "args": call[1]}} if call else {"text": "done"}
    candidate = {"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": [part]}}
    usage = {"promptTokenCount": 9, "candidatesTokenCount": 9, "totalTokenCount": 18}
    answer = {"candidates": [candidate], "usageMetadata": usage}
    return [(None, answer)] if is_stream else answer


def side_json(body):
    """Answers a request for JSON that offers no tools."""
    config = body.get("generationConfig") or {}
    if "responseJsonSchema" in config or "responseSchema" in config or config.get("responseMimeType") == "application/json":
        return {"text": json.dumps({"reasoning": "x", "next_speaker": "user", "complexity_reasoning": "x",
                                    "complexity_score": 9, "model_choice": "flash"})}
    return None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.send(json.dumps({"object": "list", "data": [{"id": "stub", "object": "model"}]}), "application/json")

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        raw = gzip.decompress(raw) if self.headers.get("content-encoding") == "gzip" else raw
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            body = {}
        path = self.path.split("?")[0]
        if "count" in path.lower():
            return self.send(json.dumps({"input_tokens": 9, "totalTokens": 9}), "application/json")
        is_gemini = "generateContent" in path.lower() or "generatecontent" in path.lower()
        speak = (messages if path.endswith("/messages") else responses if path.endswith("/responses")
                 else chat if path.endswith("/chat/completions") else gemini if is_gemini else None)
        if speak is None:
            return self.send("{}", "application/json")
        call = self.server.script.answer(body)
        is_stream = body.get("stream", False) or "stream" in path.lower()
        events = speak(call, is_stream)
        side = side_json(body) if is_gemini and not body.get("tools") else None
        if side:
            events = gemini(None, is_stream)
            answer = events[0][1] if is_stream else events
            answer["candidates"][0]["content"]["parts"] = [side]
        if isinstance(events, dict):
            return self.send(json.dumps(events), "application/json")
        lines = []
        for name, data in events:
            text = data if isinstance(data, str) else json.dumps({"type": name, **data} if name else data)
            lines.append((f"event: {name}\n" if name else "") + f"data: {text}\n\n")
        self.send("".join(lines), "text/event-stream")

    def send(self, text, kind):
        data = text.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


# The project and the session


def lay_out(project):
    """Writes guidance of several formats, each with a word of its own."""
    entries = [{"content": f"MARK-{action}-{time} note", "match": ["**/*.py"], "on": action, "when": time}
               for action in ("read", "edit", "create") for time in ("before", "after")]
    files = {
        READ: "x = 1\ny = 2\n",
        "AGENTS.yaml": json.dumps({"context": entries}),
        ".context/always.md": "---\ntrigger: always\n---\n\nMARK-always note\n",
        ".agents/rules/task.md": "MARK-task-rule note\n",
        ".cursor/rules/py.mdc": "---\nglobs: '**/*.py'\n---\n\nMARK-cursor-rule note\n",
        ".github/instructions/py.instructions.md": "---\napplyTo: '**/*.py'\n---\n\nMARK-copilot-rule note\n",
    }
    for path, text in files.items():
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text(text)
    subprocess.run(["git", "init", "-q", str(project)], check=True)


def merged(old, new):
    if isinstance(old, dict) and isinstance(new, dict):
        return {**old, **{key: merged(old.get(key), value) for key, value in new.items()}}
    return new


# What stands in for `brief` once the hook is set up: the lines of a shell, or None for nothing.
FAULTS = {
    "missing": None,
    "killed": "kill -9 $$",
    "exit 2": "echo broken >&2; exit 2",
    "hangs": "exec sleep 1000",
    "noise": "echo 'not JSON {'",
    "null": "echo null",
}
BIG = 150_000  # more than a pipe holds: nobody may have to read it


def session(name, into, brief, start=".", hold=False, hook=None, fault=None, disabled=False):
    """Runs one session. Returns the marks that arrived, the numbers of those twice and late, and whether the client did its work."""
    client = CLIENTS[name]
    with tempfile.TemporaryDirectory(prefix="clients-", ignore_cleanup_errors=True) as scratch:
        project, home = pathlib.Path(scratch, "project"), pathlib.Path(scratch, "home")
        project.mkdir(), home.mkdir()
        lay_out(project)
        node = f"{into}/node/node_modules/node/bin:" if client.get("node") else ""
        path = f"{brief.parent}:{into}/{name}/node_modules/.bin:{node}{os.environ['PATH']}"
        plain = {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1"}
        install = [str(brief), "hook", "install", hook or name, *(["--hold"] if hold else [])]
        done = subprocess.run(install, cwd=project, env=plain, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{name}: {done.stderr}")
        if fault:
            stand_in = pathlib.Path(scratch, "bin")
            stand_in.mkdir()
            if FAULTS[fault]:
                (stand_in / "brief").write_text(f"#!/bin/sh\n{FAULTS[fault]}\n")
                (stand_in / "brief").chmod(0o755)
            plain["PATH"] = path.replace(str(brief.parent), str(stand_in), 1)
        if disabled:
            plain["BRIEF_DISABLE"] = "1"

        def step(do, file, old="", new=""):
            words = {"path": str(project / file), "old": old, "new": new,
                     "near": os.path.relpath(project / file, project / start)}
            tool, given = client["tools"][do]
            has = lambda: not new or (project / file).exists() and new in (project / file).read_text()
            return {"do": do, "tool": tool, "input": filled(given, words), "is_done": has}

        created = "z = 1" if not fault and not disabled else "z = 1  # " + "a" * BIG
        steps = [step("edit", READ, "x = 1", "x = 3"), step("create", CREATED, new=created)]
        if not hold or client.get("edits_after_read"):
            steps.insert(0, step("read", READ))
        script = Script(steps)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.script, server.daemon_threads = script, True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        root = f"http://127.0.0.1:{server.server_port}"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        words = {"root": root, "url": f"{root}/v1", "project": str(project), "free": port, "prompt": "please change it"}
        for file, value in filled(client.get("settings", {}), words).items():
            target = home / file
            target.parent.mkdir(parents=True, exist_ok=True)
            old = json.loads(target.read_text()) if target.exists() else {}
            target.write_text(json.dumps(merged(old, value)))
        word = uuid.uuid4().hex
        env = {**plain, **filled(client.get("env", {}), words), "CLIENTS_RUN": word}
        for command in filter(None, [client.get("before"), client["run"]]):
            try:
                subprocess.run(filled(command, words), cwd=project / start, env=env, timeout=240,
                               stdin=subprocess.DEVNULL, capture_output=True)
            except subprocess.TimeoutExpired:
                pass
        server.shutdown()
        end_daemons(word)
        # The model heard of the last call, too.
        worked = all(one["is_done"]() for one in steps) and script.at == len(steps)
    reached, double, late = [], 0, 0
    for mark, action in MARKS.items():
        # Without a read, what is for the read is not due.
        if hold and mark.startswith("read") and not client.get("edits_after_read"):
            continue
        counts = [len(re.findall(rf"MARK-{mark}\b", request)) for request in script.requests]
        if not any(counts):
            continue
        reached.append(mark)
        double += max(counts) > 1
        first = next(number for number, count in enumerate(counts, 1) if count)
        # The last time that the model asked for a change is the one that was made.
        late += bool(action) and first > script.asked.get(action, [0])[-1]
    return reached, double, late, worked


def end_daemons(word):
    """Ends what a client left behind: processes with this run's own word in their environment."""
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if f"CLIENTS_RUN={word}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                os.kill(int(entry.name), signal.SIGKILL)
        except OSError:
            pass


def install(name, into):
    """Installs a client in a prefix of its own."""
    packages = {"node": f"node@{NODE}"} if CLIENTS[name].get("node") else {}
    packages[name] = CLIENTS[name]["package"]
    for prefix, package in packages.items():
        directory = into / prefix
        if (directory / "node_modules").exists():
            continue
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "package.json").write_text('{"private": true}\n')
        path = f"{into}/node/node_modules/node/bin:{os.environ['PATH']}"
        npm = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", package]
        done = subprocess.run(npm, cwd=directory, env={**os.environ, "PATH": path}, capture_output=True, text=True)
        if done.returncode != 0:
            shutil.rmtree(directory)
            return done.stderr.strip().splitlines()[-1] if done.stderr else "npm failed"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("clients", nargs="*", help="default: all")
    parser.add_argument("--brief", type=pathlib.Path, required=True)
    parser.add_argument("--into", type=pathlib.Path, required=True, help="the directory of the installed clients")
    parser.add_argument("--only-faults", action="store_true", help="only the sessions in which brief fails")
    parser.add_argument("--out", type=pathlib.Path, help="the page to write, if all clients were run")
    arguments = parser.parse_args()
    into, brief = arguments.into.absolute(), arguments.brief.absolute()
    rows, faults, failed = [], [], []
    for name in arguments.clients or CLIENTS:
        version = CLIENTS[name]["package"].rsplit("@", 1)[1]
        problem = install(name, into)
        if problem:
            rows.append(f"| {name} | {version} | not installed: {problem} | | |")
            failed.append(name)
            continue
        cells = []
        for start, hold in () if arguments.only_faults else ((".", False), ("src", False), (".", True)):
            marks, double, late, worked = session(name, into, brief, start, hold)
            reached = len(marks)
            total = len(MARKS) - (2 if hold and not CLIENTS[name].get("edits_after_read") else 0)
            late_is_wrong = not (hold and CLIENTS[name].get("cannot_hold"))
            if not worked or reached < total or double or late and late_is_wrong:
                failed.append(name)
            cells.append(f"{reached} of {total}, {double} double, {late} late" + ("" if worked else " (session failed)"))
        rows.append(f"| {name} | {version} | " + " | ".join(cells) + " |")
        print(rows[-1], flush=True)
        # Copilot runs the hooks of Claude Code's settings, too.
        for hook in [name, "claude"] if name == "copilot" else [name]:
            cells = []
            for fault in FAULTS:
                worked = session(name, into, brief, hook=hook, fault=fault)[3]
                cells.append("works" if worked else "STOPS")
            marks, _, _, worked = session(name, into, brief, hook=hook, disabled=True)
            # Only the hook brings these.
            is_silent = not any("-before" in mark or "-after" in mark for mark in marks)
            cells.append(("silent" if is_silent else "ANSWERS") if worked else "STOPS")
            if set(cells) - {"works", "silent"}:
                failed.append(name)
            title = name if hook == name else f"{name}, hook of {hook}"
            faults.append(f"| {title} | {version} | " + " | ".join(cells) + " |")
            print(faults[-1], flush=True)
    head = ("| client | version | started at the root | started in `src` | `--hold`, no read before the change |\n"
            "| --- | --- | --- | --- | --- |\n")
    if arguments.out and not arguments.clients and not arguments.only_faults:
        # The table of all clients comes from `cargo xtask generate`.
        old = arguments.out.read_text() if arguments.out.exists() else ""
        _, heading, rest = old.partition("\n## What is read and written")
        arguments.out.write_text(
            "# Clients that were run\n\n"
            f"Made by `cargo xtask clients` on {datetime.date.today()}: real clients against a scripted model, which records what reaches it.\n"
            "Each session reads, edits and creates a file in a project with ten marked texts of several formats. A text is late if it\n"
            "is for before a change and came after it. Cline cannot hold a call back, and Qwen Code edits only what it has read.\n"
            "[Each client's page](clients/README.md) has the facts behind this.\n\n" + head + "\n".join(rows) + "\n\n"
            "## When `brief` fails\n\n"
            "The same session with the hook that `brief hook install` writes, and something else in the place of `brief`: nothing, a\n"
            "program that kills itself, one that exits with 2, one that never ends, one that prints a line that is not JSON, and one that\n"
            "prints `null`. `works`: every request reached the model and every call of a tool ran, among them one that writes 150 kB.\n"
            "Last, the real `brief` with `BRIEF_DISABLE=1`. Copilot also runs the hooks of Claude Code's settings.\n\n"
            + "| client | version | " + " | ".join([*FAULTS, "disabled"]) + " |\n" + "| --- " * (len(FAULTS) + 3) + "|\n"
            + "\n".join(faults) + "\n" + heading + rest)
    print(f"failed: {' '.join(sorted(set(failed))) or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
