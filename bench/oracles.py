#!/usr/bin/env python3
"""Compares `brief lint` with clients that check their own files.

`cargo xtask oracles` calls this. It installs each client with npm in the version of bench/lab/table.py, mutates valid files
(always in the same way for a seed), lets the client and `brief lint` judge the same files, and counts where they differ.
Many mutations stand in one file, each on a line of its own, because a client takes a second to start. The table goes to
docs/dev/oracles.md. No account and no network are needed once the clients are installed.

The law: a value that its client accepts is not an error of ours. A value that the client refuses and that we leave alone
is a miss; one that we only warn of is weaker.
"""

import argparse
import collections
import copy
import datetime
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

import clients

OTHERS = [None, True, 7, -3, 1.5, "", "x", [], ["x"], [5], {}, {"x": 1}]


# Valid values, by client and kind. A kind with a `*` is a list of units that may stand in one file many times.
CLAUDE = {
    "hook*": [
        {"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "make x", "timeout": 5, "shell": "bash"}]},
        {"hooks": [{"type": "command", "command": "date", "async": True, "onFailure": "continue", "once": False}]},
        {"hooks": [{"type": "prompt", "prompt": "Is it done?", "model": "haiku", "timeout": 9}]},
        {"hooks": [{"type": "agent", "prompt": "Look.", "statusMessage": "looking"}]},
        {"hooks": [{"type": "http", "url": "https://example.com/x", "headers": {"A": "b"}, "allowedEnvVars": ["A"]}]},
        {"hooks": [{"type": "mcp_tool", "server": "docs", "tool": "find", "input": {"a": 1}, "if": "Bash(git *)"}]},
    ],
    "server*": [
        {"command": "docs", "args": ["--stdio"], "env": {"A": "b"}, "timeout": 5000},
        {"type": "stdio", "command": "docs", "alwaysLoad": True},
        {"type": "http", "url": "https://example.com/mcp", "headers": {"A": "b"}},
        {"type": "sse", "url": "https://example.com/sse"},
        {"type": "streamable-http", "url": "https://example.com/mcp", "headersHelper": "print-headers"},
        {"type": "ws", "url": "wss://example.com/mcp"},
    ],
    "rule*": ["Bash(git:*)", "Bash(npm run build)", "Read(./src/**)", "Edit(docs/**)", "WebFetch(domain:example.com)",
              "mcp__docs", "mcp__docs__find", "mcp__docs__*", "WebSearch", "Agent(Explore)", "Skill(pdf)", "Write"],
    "event*": [[{"hooks": [{"type": "command", "command": "date"}]}]],
    "setting": {
        "model": "opus", "cleanupPeriodDays": 30, "env": {"A": "b"}, "includeCoAuthoredBy": True, "outputStyle": "Explanatory",
        "statusLine": {"type": "command", "command": "date"}, "enableAllProjectMcpServers": True, "language": "german",
        "enabledMcpjsonServers": ["docs"], "apiKeyHelper": "x", "respectGitignore": True, "defaultShell": "bash",
        "autoUpdatesChannel": "stable", "fallbackModel": ["sonnet"], "spinnerTipsEnabled": False, "tui": "default",
        "fileSuggestion": {"type": "command", "command": "fd"}, "plansDirectory": "plans", "agent": "reviewer",
        "companyAnnouncements": ["Hi"], "skipWebFetchPreflight": True, "disableAllHooks": False, "worktree": {},
        "spinnerVerbs": {"mode": "append", "verbs": ["Sailing"]}, "enabledPlugins": {"a@b": True}, "timeZone": "UTC",
        "feedbackSurveyRate": 0.5, "workflowSizeGuideline": "small", "prefersReducedMotion": True, "sandbox": {},
        "alwaysThinkingEnabled": True, "teammateMode": "auto", "attribution": {"commit": ""}, "verbose": False,
    },
}
PLUGIN = {
    "name": "PLACE", "version": "1.0.0", "description": "Tools", "author": {"name": "A", "email": "a@example.com"},
    "homepage": "https://example.com", "repository": "https://example.com/r", "license": "MIT", "keywords": ["a"],
    "commands": ["./commands/a.md"], "agents": ["./agents/a.md"], "skills": "./skills", "defaultEnabled": True,
    "mcpServers": {"docs": {"command": "docs"}}, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "date"}]}]},
    "lspServers": {"go": {"command": "gopls", "extensionToLanguage": {".go": "go"}}},
}
CODEX = {
    "model": "gpt-5", "approval_policy": "on-request", "sandbox_mode": "workspace-write", "model_verbosity": "low",
    "personality": "pragmatic", "model_reasoning_effort": "high", "model_reasoning_summary": "auto", "web_search": "live",
    "project_doc_max_bytes": 65536, "project_doc_fallback_filenames": ["A.md"], "notify": ["x"], "file_opener": "cursor",
    "hide_agent_reasoning": True, "model_context_window": 200000, "cli_auth_credentials_store": "file",
    "mcp_oauth_credentials_store": "auto", "check_for_update_on_startup": False, "developer_instructions": "x",
    "tool_output_token_limit": 9000, "allow_login_shell": True, "forced_login_method": "api", "profile": "NONE",
    "history": {"persistence": "none", "max_bytes": 100}, "agents": {"max_threads": 4, "max_depth": 2, "enabled": True},
    "shell_environment_policy": {"inherit": "core", "exclude": ["A*"], "set": {"A": "b"}, "ignore_default_excludes": True},
    "sandbox_workspace_write": {"network_access": True, "writable_roots": ["/tmp"], "exclude_slash_tmp": False},
    "projects": {"/x": {"trust_level": "trusted"}}, "features": {"hooks": True}, "skills": {"max_context_tokens": 100},
    "apps": {"a": {"enabled": True, "default_tools_approval_mode": "auto"}},
    "model_providers": {"p": {"name": "P", "base_url": "https://example.com", "wire_api": "responses", "env_key": "K"}},
    "mcp_servers": {
        "a": {"command": "docs", "args": ["x"], "env": {"A": "b"}, "startup_timeout_sec": 5, "enabled": True, "cwd": "/"},
        "b": {"url": "https://example.com", "bearer_token_env_var": "K", "http_headers": {"A": "b"}, "tool_timeout_sec": 1.5},
        "c": {"command": "x", "default_tools_approval_mode": "prompt", "enabled_tools": ["x"], "required": True},
    },
    "hooks": {"Stop": [{"matcher": "x", "hooks": [{"type": "command", "command": "date", "timeout": 5}]}],
              "PreToolUse": [{"hooks": [{"type": "mcp_tool", "server": "a", "tool": "b"}]}]},
}
GEMINI = {
    "server*": [
        {"command": "docs", "args": ["x"], "env": {"A": "b"}, "cwd": ".", "timeout": 1000, "trust": True},
        {"url": "https://example.com/sse", "headers": {"A": "b"}, "type": "sse"},
        {"httpUrl": "https://example.com/mcp", "includeTools": ["a"], "excludeTools": ["b"], "description": "d"},
    ],
    "agent*": [
        {"name": "PLACE", "description": "Use it", "tools": ["read_file", "grep_search"], "model": "inherit",
         "temperature": 0.5, "max_turns": 5, "timeout_mins": 5, "kind": "local", "display_name": "A"},
        {"name": "PLACE", "description": "Use it", "tools": ["mcp_docs_find", "*"]},
    ],
    "setting": {
        "general": {"vimMode": True, "preferredEditor": "vim", "checkpointing": {"enabled": True}, "maxAttempts": 3},
        "output": {"format": "json"}, "ui": {"theme": "x", "hideTips": True, "footer": {"items": ["a"], "hideCWD": True}},
        "model": {"name": "gemini-2.5-pro", "maxSessionTurns": 5}, "context": {"fileName": ["A.md"], "discoveryMaxDirs": 9},
        "tools": {"core": ["a"], "shell": {"pager": "cat", "showColor": True}, "useRipgrep": True},
        "privacy": {"usageStatisticsEnabled": False}, "security": {"folderTrust": {"enabled": True}},
        "experimental": {"worktrees": True, "voice": {"backend": "whisper"}}, "skills": {"enabled": True, "disabled": ["a"]},
        "hooksConfig": {"enabled": True}, "advanced": {"excludedEnvVars": ["A"]}, "mcp": {"allowed": ["a"]},
        "billing": {"overageStrategy": "ask"}, "agents": {"browser": {"headless": True, "sessionMode": "isolated"}},
        "hooks": {"BeforeTool": [{"matcher": "x", "hooks": [{"type": "command", "command": "date"}]}]},
    },
}
OPENCODE = {
    "mcp*": [
        {"type": "local", "command": ["docs"], "environment": {"A": "b"}, "enabled": True, "timeout": 500, "cwd": "."},
        {"type": "remote", "url": "https://example.com", "headers": {"A": "b"}, "oauth": {"clientId": "a", "scope": "b"}},
        {"type": "remote", "url": "https://example.com", "oauth": False, "timeout": 10},
        {"enabled": False},
    ],
    "agent*": [
        {"description": "d", "mode": "subagent", "model": "a/b", "temperature": 0.5, "steps": 5, "color": "#aabbcc",
         "hidden": True, "permission": {"edit": "ask", "bash": {"git *": "allow"}}, "tools": {"write": False}},
        {"mode": "primary", "prompt": "x", "disable": False, "top_p": 0.5, "color": "accent", "maxSteps": 4, "variant": "x"},
    ],
    "command*": [{"template": "x", "description": "d", "agent": "a", "model": "a/b", "subtask": True}],
    "setting": {
        "share": "manual", "autoupdate": "notify", "logLevel": "INFO", "snapshot": True, "instructions": ["a.md"],
        "permission": {"edit": "ask", "bash": {"*": "deny"}, "webfetch": "allow"}, "username": "x", "layout": "auto",
        "disabled_providers": ["a"], "server": {"port": 4096, "hostname": "x", "cors": ["x"]}, "default_agent": "build",
        "compaction": {"auto": True, "prune": False, "reserved": 100}, "plugin": ["x"], "tools": {"write": True},
        "watcher": {"ignore": ["x"]}, "model": "a/b", "small_model": "a/b", "enterprise": {"url": "https://example.com"},
    },
}

COPILOT = {
    "skill*": [
        {"name": "PLACE", "description": "Use it", "license": "MIT", "allowed-tools": "view, grep", "user-invocable": True},
        {"name": "PLACE", "description": "Use it", "allowed-tools": ["view"], "disable-model-invocation": False,
         "argument-hint": "x", "metadata": {"version": "1"}},
    ],
    "agent*": [
        {"name": "PLACE", "description": "Use it", "tools": ["view", "docs/find"], "model": "gpt-5", "infer": True},
        {"description": "Use it", "tools": "*", "user-invocable": False, "disable-model-invocation": True,
         "argument-hint": "x", "metadata": {"a": "b"}},
        {"name": "PLACE", "description": "Use it", "mcp-servers": {"docs": {"type": "local", "command": "docs", "tools": ["*"]}}},
    ],
    "server*": [
        {"command": "docs", "args": ["x"], "env": {"A": "b"}, "tools": ["*"], "cwd": ".", "timeout": 1000},
        {"type": "local", "command": "docs", "args": [], "tools": ["a", "b"]},
        {"type": "stdio", "command": "docs", "args": []},
        {"type": "http", "url": "https://example.invalid/mcp", "headers": {"A": "b"}, "tools": ["*"]},
        {"type": "sse", "url": "https://example.invalid/sse", "tools": []},
    ],
    "hook*": [
        {"type": "command", "bash": "date", "powershell": "date", "cwd": ".", "timeoutSec": 5, "env": {"A": "b"}, "matcher": "view"},
        {"type": "command", "command": "date", "timeout": 5},
        {"type": "command", "bash": "date", "comment": "x"},
        {"type": "http", "url": "https://example.invalid/x", "headers": {"A": "b"}, "allowedEnvVars": ["A"], "timeoutSec": 2},
    ],
}


def places(value, path=()):
    """Returns the paths of a value and of everything in it."""
    found = [path]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else []
    for key, below in items:
        found += places(below, path + (key,))
    return found


def misspelt(word, rng):
    at = rng.randrange(max(1, len(word) - 1))
    return rng.choice([word[:at] + word[at + 1:], word[:at] + word[at:at + 2][::-1] + word[at + 2:], word + "z", word.upper()])


def mutated(value, rng, operations):
    """Returns a changed copy, and the name of the change."""
    copied = copy.deepcopy(value)
    name = rng.choice(operations)
    if name == "none":
        return copied, name
    paths = places(copied)
    path = rng.choice(paths[1:] or paths)
    if not path:
        return (misspelt(copied, rng) if isinstance(copied, str) else rng.choice(OTHERS)), "other value"
    above = copied
    for key in path[:-1]:
        above = above[key]
    key, old = path[-1], above[path[-1]]
    if name == "key misspelt" and isinstance(above, dict):
        above[misspelt(key, rng)] = above.pop(key)
    elif name == "key removed":
        del above[key]
    elif name == "key added" and isinstance(above, dict):
        above["frobnicate"] = rng.choice(OTHERS)
    elif name == "text misspelt" and isinstance(old, str):
        above[key] = misspelt(old, rng)
    else:
        name = "other value"
        above[key] = rng.choice([other for other in OTHERS if type(other) is not type(old)] or OTHERS)
    return copied, name


OPERATIONS = ["none", "other value", "other value", "other value", "key misspelt", "key removed", "key added", "text misspelt"]


class Unit:
    """One mutation: its kind, the change, its text, and both verdicts."""

    def __init__(self, kind, change, value, name):
        self.kind, self.change, self.value, self.name = kind, change, value, name
        self.is_refused, self.ours, self.reason, self.message = False, "", "", ""


def units(valid, rng, count, prefix):
    """Returns mutations of each kind that may stand in a file many times, and one of each setting."""
    found = []
    for kind, values in valid.items():
        if kind == "setting":
            for name, value in values.items():
                changed, change = mutated({name: value}, rng, OPERATIONS)
                if change != "key misspelt" and name in changed:
                    found.append(Unit("setting", change, changed[name], name))
        else:
            for number in range(count):
                changed, change = mutated(rng.choice(values), rng, OPERATIONS)
                found.append(Unit(kind.rstrip("*"), change, changed, f"{prefix}{kind[:2]}{number}"))
    return found


class Lines:
    """A text of JSON in which each unit stands on a line of its own."""

    def __init__(self):
        self.lines, self.of_line = [], {}

    def add(self, text, unit=None):
        self.lines.append(text)
        if unit is not None:
            self.of_line[len(self.lines)] = unit

    def block(self, opening, closing, entries):
        self.add(opening)
        for number, (text, unit) in enumerate(entries):
            self.add(text + ("," if number + 1 < len(entries) else ""), unit)
        self.add(closing)

    def write(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(self.lines) + "\n")


def entry(unit):
    return f"{json.dumps(unit.name)}: {json.dumps(unit.value)}", unit


def run(command, directory, env, seconds=90):
    done = subprocess.run(command, cwd=directory, env=env, capture_output=True, text=True, timeout=seconds,
                          stdin=subprocess.DEVNULL)
    return re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)


def refuse(unit, reason):
    if unit is not None:
        unit.is_refused, unit.reason = True, unit.reason or reason.strip()


def with_header(unit, path):
    """Writes a Markdown file whose header is the unit."""
    value = unit.value if isinstance(unit.value, dict) else {"name": unit.value}
    value = {key: unit.name if below == "PLACE" else below for key, below in value.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    header = "".join(f"{json.dumps(key)}: {json.dumps(below)}\n" for key, below in value.items())
    path.write_text(f"---\n{header}---\nDo it.\n")
    return path, {line: unit for line in range(1, 40)}


def of_claude(directory, env, rng, count):
    """Settings and servers: `claude doctor` names each."""
    found = units({kind: values for kind, values in CLAUDE.items() if kind not in ("event*", "rule*")}, rng, count, "")
    hooks = [unit for unit in found if unit.kind == "hook"]
    servers = [unit for unit in found if unit.kind == "server"]
    settings = [unit for unit in found if unit.kind == "setting"]
    rules, texts = [], set()
    for number in range(count):
        text = rng.choice(CLAUDE["rule*"])
        changed = rng.choice([text, misspelt(text, rng), text.replace(")", ""), text.split("(")[0] + "()", text.lower(), text + ")"])
        if changed not in texts and changed:
            texts.add(changed)
            rules.append(Unit("permission rule", "none" if changed == text else "text misspelt", changed, changed))
    names = ["PostToolUse", "Stop", "SessionStart", "Notification", "PreCompact", "SubagentStop", "SessionEnd", "ConfigChange"]
    events = []
    for number in range(count // 4):
        name = rng.choice(names)
        changed = rng.choice([name, misspelt(name, rng), name + str(number)])
        if changed != "PostToolUse" and changed not in [unit.name for unit in events]:
            value, change = mutated(CLAUDE["event*"][0], rng, ["none", "none", "other value"])
            events.append(Unit("event", "text misspelt" if changed != name else change, value, changed))
    lines = Lines()
    lines.add("{")
    lines.block('"permissions": { "allow": [', "] },", [(json.dumps(unit.value), unit) for unit in rules])
    lines.add('"hooks": {')
    lines.block('"PostToolUse": [', "],", [(json.dumps(unit.value), unit) for unit in hooks])
    for number, unit in enumerate(events):
        lines.add(entry(unit)[0] + ("," if number + 1 < len(events) else ""), unit)
    lines.add("},")
    for number, unit in enumerate(settings):
        lines.add(entry(unit)[0] + ("," if number + 1 < len(settings) else ""), unit)
    lines.add("}")
    lines.write(directory / ".claude/settings.json")
    mcp = Lines()
    mcp.block('{ "mcpServers": {', "} }", [entry(unit) for unit in servers])
    mcp.write(directory / ".mcp.json")
    by_name = {unit.name: unit for unit in settings + servers + events}
    for line in run(["claude", "doctor"], directory, env).splitlines():
        told = re.match(r"- \S*/(?:settings|\.mcp)\.json › ([^:]+): (.*)", line)
        if not told:
            continue
        path, message = told[1].split("."), told[2]
        if path[0] == "permissions":
            rule = re.search(r'rule "(.*?)" was', message)
            refuse(next((unit for unit in rules if rule and unit.value == rule[1]), None), message)
        elif path[:2] == ["hooks", "PostToolUse"] and len(path) > 2:
            refuse(hooks[int(path[2])], message)
        elif path[0] in ("hooks", "mcpServers") and len(path) > 1:
            refuse(by_name.get(path[1]), message)
        else:
            refuse(by_name.get(path[0]), message)
    return [(directory / ".claude/settings.json", lines.of_line), (directory / ".mcp.json", mcp.of_line)]


def of_plugins(directory, env, rng, count):
    """Manifests of plugins: one marketplace names many."""
    found, entries, checked = [], [], []
    for number in range(count):
        changed, change = mutated({**PLUGIN, "name": f"p{number}"}, rng, OPERATIONS)
        unit = Unit("plugin", change, changed, f"p{number}")
        place = directory / "plugins" / unit.name
        for file in ("commands/a.md", "agents/a.md", "skills/s/SKILL.md"):
            (place / file).parent.mkdir(parents=True, exist_ok=True)
            (place / file).write_text(f"---\nname: {'s' if 'skills' in file else 'a'}\ndescription: d\n---\nDo it.\n")
        lines = Lines()
        lines.add(json.dumps(changed), unit)
        lines.write(place / ".claude-plugin/plugin.json")
        checked.append((place / ".claude-plugin/plugin.json", lines.of_line))
        found.append(unit)
        entries.append((json.dumps({"name": unit.name, "source": f"./plugins/{unit.name}"}), None))
    market = Lines()
    market.block('{ "name": "market", "owner": { "name": "A" }, "plugins": [', "] }", entries)
    market.write(directory / ".claude-plugin/marketplace.json")
    told = run(["claude", "plugin", "validate", str(directory)], directory, env)
    section = ""
    for line in told.splitlines():
        head = re.match(r"\S+ Found \d+ (error|warning)", line)
        section = head[1] if head else section
        place = re.match(r"\s+❯ plugins\[(\d+)\](.*)", line)
        if place and section == "error":
            refuse(found[int(place[1])], place[2])
    return checked


def toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(below)}" for key, below in value.items() if below is not None) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(toml(below) for below in value if below is not None) + "]"
    return json.dumps(value)


def of_codex(directory, env, rng, count):
    """One setting at a time: the client names the first that is wrong, and takes 30 ms."""
    checked = []
    for number in range(count):
        name = rng.choice(list(CODEX))
        changed, change = mutated({name: CODEX[name]}, rng, OPERATIONS)
        if name == "profile" or changed.get(name, changed) is None:
            continue
        unit = Unit(name, change, changed, name)
        place = directory / f"c{number}" / ".codex"
        lines = Lines()
        lines.add("".join(f"{key} = {toml(value)}\n" for key, value in changed.items() if value is not None), unit)
        lines.write(place / "config.toml")
        told = run(["codex", "app-server", "--print-startup-config"], place, {**env, "CODEX_HOME": str(place)})
        detail = re.search(r'"detail":"(.*?)"[,}]', told)
        if "startup configuration unavailable" in told:
            refuse(unit, detail[1] if detail else told)
        checked.append((place / "config.toml", {line: unit for line in range(1, 9)}))
    return checked


def of_gemini(directory, env, rng, count):
    """Settings and servers: `gemini mcp list` names the first five that are wrong; agents: `gemini skills list`."""
    env = {**env, "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    found = units(GEMINI, rng, count, "")
    some = [unit for unit in found if unit.kind != "agent"]
    checked = []
    for number, start in enumerate(range(0, len(some), 4)):
        part = some[start:start + 4]
        place = directory / f"g{number}"
        lines = Lines()
        lines.block('{ "mcpServers": {', "},", [entry(unit) for unit in part if unit.kind == "server"])
        lines.block("", '"x": 1 }', [(entry(unit)[0] + ",", unit) for unit in part if unit.kind == "setting"])
        lines.lines = [line.replace(",,", ",") for line in lines.lines]
        lines.write(place / ".gemini/settings.json")
        by_name = {unit.name: unit for unit in part}
        told = run(["gemini", "mcp", "list"], place, env)
        if "more errors" in told:
            continue
        for path, message in re.findall(r"Error in: (\S+)\n\s+(.*)", told):
            path = re.split(r"[.\[]", path)
            refuse(by_name.get(path[1] if path[0] == "mcpServers" and len(path) > 1 else path[0]), message)
        checked.append((place / ".gemini/settings.json", lines.of_line))
    agents = {}
    folder = directory / "agents"
    for unit in (unit for unit in found if unit.kind == "agent" and isinstance(unit.value, dict)):
        agents[unit.name] = unit
        checked.append(with_header(unit, folder / ".gemini/agents" / f"{unit.name}.md"))
    told = run(["gemini", "skills", "list", "--all"], folder, env)
    for name, message in re.findall(r"Failed to load agent from \S*/(\w+)\.md: (.*\n.*)", told):
        refuse(agents.get(name), message)
    return checked


def of_opencode(directory, env, rng, count):
    """`opencode debug config` names each value that is wrong."""
    found = units(OPENCODE, rng, count, "")
    lines = Lines()
    lines.add("{")
    for kind in ("mcp", "agent", "command"):
        lines.block(f'"{kind}": {{', "},", [entry(unit) for unit in found if unit.kind == kind])
    settings = [unit for unit in found if unit.kind == "setting"]
    for number, unit in enumerate(settings):
        lines.add(entry(unit)[0] + ("," if number + 1 < len(settings) else ""), unit)
    lines.add("}")
    lines.write(directory / "opencode.json")
    by_name = {unit.name: unit for unit in found}
    told = run(["opencode", "debug", "config", "--pure"], directory, env)
    if "↳" not in told:
        print(f"opencode gave no verdict: {told[:200]}", file=sys.stderr)
        return []
    for line in told.splitlines():
        if line.startswith("↳"):
            path = re.search(r" (?:mcp|agent|command)\.(\w+)", line)
            refuse(by_name.get(path[1] if path else line.split(" ")[-1].split(".")[0]), line)
    return [(directory / "opencode.json", lines.of_line)]


def of_copilot(directory, env, rng, count):
    """`copilot skill list` names each skill that fails, the log of a run each agent, hook and server."""
    found = {unit.name: unit for unit in units(COPILOT, rng, count, "")}
    by_kind = {kind: [unit for unit in found.values() if unit.kind == kind] for kind in ("skill", "agent", "server", "hook")}
    github = directory / ".github"
    checked = [with_header(unit, github / "skills" / unit.name / "SKILL.md") for unit in by_kind["skill"]]
    checked += [with_header(unit, github / "agents" / f"{unit.name}.agent.md") for unit in by_kind["agent"]]
    hooks, servers = Lines(), Lines()
    hooks.block('{ "version": 1, "hooks": { "agentStop": [', "] } }", [(json.dumps(unit.value), unit) for unit in by_kind["hook"]])
    hooks.write(github / "hooks/all.json")
    servers.block('{ "mcpServers": {', "} }", [entry(unit) for unit in by_kind["server"]])
    servers.write(github / "mcp.json")
    checked += [(github / "hooks/all.json", hooks.of_line), (github / "mcp.json", servers.of_line)]
    for name, message in re.findall(r"skills/(\w+)/SKILL\.md: (.*)", run(["copilot", "skill", "list"], directory, env)):
        refuse(found.get(name), message)
    log = directory.parent / "log"
    # It asks a model again and again, which is not there; all is loaded by then.
    dead = {**env, "COPILOT_PROVIDER_BASE_URL": "http://127.0.0.1:9/v1", "COPILOT_PROVIDER_API_KEY": "none",
            "COPILOT_MODEL": "stub", "COPILOT_OFFLINE": "true"}
    command = ["timeout", "8", "copilot", "-p", "x", "--allow-all-tools", "--trust-folder", "--log-level", "all", "--log-dir", str(log)]
    run(command, directory, dead)
    told = "".join(path.read_text() for path in log.iterdir())
    if "Model provider request failed" not in told:
        print(f"copilot did not come to its first request: {told[-200:]}", file=sys.stderr)
        return []
    for name, message in re.findall(r"\[ERROR\] \.github/agents/(\w+)\.agent\.md: (.*)", told):
        refuse(found.get(name), message)
    for number, message in re.findall(r"hooks\.agentStop\[(\d+)\](.*)", told):
        refuse(by_kind["hook"][int(number)], message)
    for regex in re.findall(r"Invalid matcher regex in \w+ hook: '(.*?)' ", told):
        for unit in by_kind["hook"]:
            if unit.value.get("matcher") == regex:
                refuse(unit, "Invalid matcher regex")
    for name, message in re.findall(r'Skipping invalid MCP server "(\w+)" in [^:]*: (.*)', told):
        refuse(found.get(name), message)
    return checked


ORACLES = {
    # The client, the mutations of one run, and the runs that are made of 1,000.
    "claude": [(of_claude, 40, 150), (of_plugins, 60, 60)],
    "codex": [(of_codex, 200, 200)],
    "gemini": [(of_gemini, 60, 130)],
    "opencode": [(of_opencode, 60, 150)],
    "copilot": [(of_copilot, 60, 240)],
}


def judge(brief, directory, checked):
    """Lets `brief lint` judge the same files."""
    by_path = {os.path.realpath(path): of_line for path, of_line in checked}
    told = subprocess.run([brief, "-C", directory, "lint", "--format", "json"], capture_output=True, text=True,
                          env={"PATH": os.environ["PATH"], "HOME": str(directory)})
    for found in json.loads(told.stdout)["diagnostics"]:
        path = os.path.realpath(os.path.join(directory, found["path"]))
        unit = by_path.get(path, {}).get(found["line"])
        if unit is None or not found["code"].startswith(("client/", "client/", "frontmatter")):
            continue
        if unit.ours != "error":
            unit.ours, unit.message = found["severity"], f"{found['code']}: {found['message']}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--client", action="append", choices=list(ORACLES), help="default: all, and the page is written")
    parser.add_argument("--count", type=int, default=1000, help="the mutations of each client, at least")
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--show", type=int, default=10, help="the differences of each kind that are shown")
    parser.add_argument("--brief", type=pathlib.Path, required=True)
    parser.add_argument("--into", type=pathlib.Path, required=True, help="the directory of the installed clients")
    parser.add_argument("--out", type=pathlib.Path, help="the page to write, if all clients were run")
    arguments = parser.parse_args()
    into, brief = arguments.into.absolute(), arguments.brief.absolute()
    rows, wrong = [], 0
    for client in arguments.client or ORACLES:
        version = clients.CLIENTS[client]["package"].rsplit("@", 1)[1]
        problem = clients.install(client, into)
        if problem:
            print(f"{client}: not installed: {problem}", file=sys.stderr)
            return 1
        path = f"{into}/{client}/node_modules/.bin:{into}/node/node_modules/node/bin:{os.environ['PATH']}"
        tally = collections.defaultdict(collections.Counter)
        shown = collections.Counter()
        for oracle, count, size in ORACLES[client]:
            for number in range(max(1, arguments.count // size)):
                rng = random.Random(f"{arguments.seed} {client} {oracle.__name__} {number}")
                with tempfile.TemporaryDirectory() as scratch:
                    directory = pathlib.Path(scratch) / "project"
                    home = pathlib.Path(scratch) / "home"
                    directory.mkdir()
                    home.mkdir()
                    subprocess.run(["git", "init", "-q", str(directory)], check=True)
                    env = {"PATH": path, "HOME": str(home), "DISABLE_AUTOUPDATER": "1", "IS_SANDBOX": "1",
                           "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1", "CI": "1"}
                    checked = oracle(directory, env, rng, count)
                    judge(brief, directory, checked)
                    seen = {id(unit): unit for _, of_line in checked for unit in of_line.values()}
                for unit in seen.values():
                    verdict = ("agrees" if unit.is_refused == (unit.ours == "error")
                               else "false error" if unit.ours == "error"
                               else "weaker" if unit.ours else "missed")
                    kind = unit.kind if client != "codex" else "setting"
                    for row in ((kind, unit.change), ("all", "")):
                        tally[row]["all"] += 1
                        tally[row][verdict] += 1
                        tally[row]["refused"] += unit.is_refused
                    shown[verdict, unit.kind] += 1
                    if verdict != "agrees" and shown[verdict, unit.kind] <= arguments.show:
                        print(f"{verdict}: {client} {unit.kind} ({unit.change}) {unit.name} {json.dumps(unit.value)[:220]}\n"
                              f"    client: {unit.reason[:160]}\n    ours: {unit.ours} {unit.message[:160]}")
        for (kind, change), counts in sorted(tally.items()):
            cells = [client if kind != "all" else f"**{client} {version}**", kind, change, counts["all"], counts["refused"],
                     counts["agrees"], counts["weaker"], counts["missed"], counts["false error"]]
            rows.append("| " + " | ".join(str(cell) for cell in cells) + " |")
        total = tally["all", ""]
        wrong += total["false error"]
        print(f"{client} {version}: {dict(total)}", flush=True)
    head = ("| client | file | change | mutations | refused | both agree | we only warn | missed | false errors |\n"
            "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
    if arguments.out and not arguments.client:
        arguments.out.write_text(
            "# Held to the clients themselves\n\n"
            f"Made by `cargo xtask oracles` on {datetime.date.today()}: valid files are mutated, and the client and `brief lint` judge the same files.\n"
            "Refused: the client reports the value. An error of ours that the client accepts would be a false error.\n\n"
            + head + "\n".join(rows) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
