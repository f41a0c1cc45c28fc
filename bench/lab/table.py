"""What the lab knows of each client: one row each, and nothing of it anywhere else.

In arguments, settings and variables {root} is the server, {url} the same with /v1, {project} the project, {main} its main checkout,
{prompt} the user's words, {session} the latest session and {free} a free port. In tools {path} is absolute and {near} relative to the start directory. `in` has
what a session of one shape needs more, and `lacks` why there is no session of a shape: a row says so, or it was not run. `newer` has
the reason why a newer version is not the pinned one.
"""

import pathlib
import re

NODE = "24.21.0"  # some clients need a newer Node than distributions have

STUB = {"name": "stub", "tool_call": True, "limit": {"context": 128000, "output": 8000}}
PROVIDER = {
    "model": "stub/stub", "small_model": "stub/stub", "autoupdate": False,
    "permission": {"external_directory": "allow"},  # a refusal would end the run
    "provider": {"stub": {"npm": "@ai-sdk/openai-compatible", "name": "stub", "models": {"stub": STUB},
                          "options": {"baseURL": "{url}", "apiKey": "none"}}},
}
OPENCODE = {
    "read": ("read", {"filePath": "{path}"}),
    "edit": ("edit", {"filePath": "{path}", "oldString": "{old}", "newString": "{new}"}),
    "create": ("write", {"filePath": "{path}", "content": "{new}"}),
    "shell": ("bash", {"command": "{command}", "description": "run"}),
    "agent": ("task", {"description": "a part", "prompt": "{task}", "subagent_type": "general"}),
}
PI_MODEL = {"id": "stub", "name": "stub", "reasoning": False, "input": ["text"], "contextWindow": 128000,
            "maxTokens": 8000, "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}
CODEX = ["-c", 'model_providers.stub={name="stub",base_url="{url}",env_key="STUB_KEY",wire_api="responses"}',
         "-c", 'model_provider="stub"', "-c", 'model="gpt-5.5"', "-c", "analytics.enabled=false",
         "-c", "check_for_update_on_startup=false", "-c", "features.multi_agent_v2=true",
         "-c", "model_auto_compact_token_limit=100000",
         "-c", 'projects={"{main}"={trust_level="trusted"}}',
         "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust", "--skip-git-repo-check"]
CLAUDE = ["--dangerously-skip-permissions"]
COPILOT = ["--allow-all-tools", "--allow-all-paths"]
PI = ["-a", "--offline", "--provider", "stub", "--model", "stub"]
QWEN = ["--auth-type", "openai", "--yolo"]
CLINE = ["-P", "openai-compatible", "-m", "stub"]
DROID = ["exec", "--auto", "high", "-m", "custom:stub-0"]

CLIENTS = {
    "claude": {
        "package": "@anthropic-ai/claude-code@2.1.328", "node": True,
        "transcripts": [".claude/projects/**/*.jsonl"],
        "run": ["claude", "-p", "{prompt}", *CLAUDE], "resume": ["claude", "--continue", "-p", "{prompt}", *CLAUDE],
        "env": {"ANTHROPIC_BASE_URL": "{root}", "ANTHROPIC_API_KEY": "none", "IS_SANDBOX": "1",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"},
        "in": {"compaction": {"env": {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "150000"}}},
        "tools": {"read": ("Read", {"file_path": "{path}"}),
                  "edit": ("Edit", {"file_path": "{path}", "old_string": "{old}", "new_string": "{new}"}),
                  "create": ("Write", {"file_path": "{path}", "content": "{new}"}),
                  "shell": ("Bash", {"command": "{command}", "description": "run"}),
                  "agent": ("Agent", {"description": "a part", "prompt": "{task}", "subagent_type": "general-purpose",
                                      "run_in_background": False})},
    },
    "codex": {
        "package": "@openai/codex@0.169.0",
        "transcripts": [".codex/sessions/**/*.jsonl"],
        "run": ["codex", "exec", *CODEX, "{prompt}"], "resume": ["codex", "exec", *CODEX, "resume", "--last", "{prompt}"],
        "env": {"STUB_KEY": "none"},
        "tools": {"read": ("exec_command", {"cmd": "cat {near}"}),
                  "edit": ("apply_patch", "*** Begin Patch\n*** Update File: {near}\n@@\n-{old}\n+{new}\n*** End Patch"),
                  "create": ("apply_patch", "*** Begin Patch\n*** Add File: {near}\n+{new}\n*** End Patch"),
                  "shell": ("exec_command", {"cmd": "{command}"}),
                  "patch": ("apply_patch", "*** Begin Patch\n{patch}*** End Patch"),
                  "agent": ("collaboration/spawn_agent", {"task_name": "part", "message": "{task}", "fork_turns": "none"})},
        "reads_by_shell": True,
    },
    "gemini": {
        "package": "@google/gemini-cli@0.61.0",
        "transcripts": [".gemini/tmp/**/*.jsonl"],
        "run": ["gemini", "-m", "gemini-2.5-flash", "--yolo", "-p", "{prompt}"],
        "resume": ["gemini", "--resume", "latest", "-m", "gemini-2.5-flash", "--yolo", "-p", "{prompt}"],
        "env": {"GOOGLE_GEMINI_BASE_URL": "{root}", "GEMINI_API_KEY": "none", "GEMINI_CLI_TRUST_WORKSPACE": "true"},
        "settings": {".gemini/settings.json": {"security": {"auth": {"selectedType": "gemini-api-key"}}}},
        "tools": {"read": ("read_file", {"file_path": "{path}"}),
                  "edit": ("replace", {"file_path": "{path}", "instruction": "change it", "old_string": "{old}",
                                       "new_string": "{new}"}),
                  "create": ("write_file", {"file_path": "{path}", "content": "{new}"}),
                  "shell": ("run_shell_command", {"command": "{command}"}),
                  "agent": ("invoke_agent", {"agent_name": "generalist", "prompt": "{task}"})},
        # It leaves a conversation alone that has one prompt and results of tools alone.
        "in": {"compaction": {"settings": {".gemini/settings.json": {"model": {"compressionThreshold": 0.1}}}},
               # It refuses a file outside its start directory and those that it includes ("Path not in workspace").
               "start elsewhere": {"settings": {".gemini/settings.json": {"context": {"includeDirectories": ["{project}"]}}}}},
        "compacts_at_prompts": True,
        "stays_below_start": True,
    },
    "opencode": {
        "package": "opencode-ai@1.18.33",
        "transcripts": [".local/share/opencode/opencode.db"],
        "run": ["opencode", "run", "{prompt}"], "resume": ["opencode", "run", "--continue", "{prompt}"],
        "env": {"OPENCODE_DISABLE_MODELS_FETCH": "1"},
        "settings": {".config/opencode/opencode.json": PROVIDER}, "tools": OPENCODE,
    },
    "kilo": {
        "package": "@kilocode/cli@7.7.7",
        "newer": "7.8.1 cannot be installed: npm has no `@kilocode/cli-linux-x64` of that version (2026-11-20)",
        "transcripts": [".local/share/kilo/kilo.db"],
        "run": ["kilo", "run", "--auto", "{prompt}"], "resume": ["kilo", "run", "--auto", "--continue", "{prompt}"],
        "settings": {".config/kilo/kilo.json": PROVIDER}, "tools": OPENCODE,
    },
    "copilot": {
        "package": "@github/copilot@1.0.102",
        "transcripts": [".copilot/session-state/**/*.jsonl"],
        "run": ["copilot", "-p", "{prompt}", "--trust-folder", *COPILOT],
        "resume": ["copilot", "--continue", "-p", "{prompt}", *COPILOT],
        "env": {"COPILOT_PROVIDER_BASE_URL": "{url}", "COPILOT_PROVIDER_API_KEY": "none", "COPILOT_MODEL": "stub",
                "COPILOT_OFFLINE": "true"},
        # A session that goes on takes no `--trust-folder`.
        "settings": {".copilot/config.json": {"trusted_folders": ["{project}"]}},
        "tools": {"read": ("view", {"path": "{path}"}),
                  "edit": ("edit", {"path": "{path}", "old_str": "{old}", "new_str": "{new}"}),
                  "create": ("create", {"path": "{path}", "file_text": "{new}"}),
                  "shell": ("bash", {"command": "{command}", "description": "run"}),
                  "agent": ("task", {"name": "part", "description": "a part", "prompt": "{task}",
                                     "agent_type": "general-purpose", "mode": "sync"})},
        "runs_hooks_of": "claude",
    },
    "qwen": {
        "package": "@qwen-code/qwen-code@0.24.4", "node": True,
        "transcripts": [".qwen/projects/**/*.jsonl"],
        "run": ["qwen", *QWEN, "-p", "{prompt}"], "resume": ["qwen", *QWEN, "--continue", "-p", "{prompt}"],
        "env": {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": "{url}", "OPENAI_MODEL": "stub"},
        "tools": {"read": ("read_file", {"file_path": "{path}", "absolute_path": "{path}"}),
                  "edit": ("edit", {"file_path": "{path}", "old_string": "{old}", "new_string": "{new}"}),
                  "create": ("write_file", {"file_path": "{path}", "content": "{new}"}),
                  "shell": ("run_shell_command", {"command": "{command}", "is_background": False}),
                  "agent": ("agent", {"description": "a part", "prompt": "{task}", "subagent_type": "general-purpose",
                                      "run_in_background": False})},
        "in": {"compaction": {"settings": {".qwen/settings.json": {"context": {"autoCompactThreshold": 0.2}}}}},
        "edits_after_read": True,
    },
    "pi": {
        "package": "@earendil-works/pi-coding-agent@0.87.1", "node": True,
        "newer": "0.99.1 to 1.5.2 cannot be installed: npm has no `@earendil-works/chord` and no `pi-codemode` of these versions (2026-11-20)",
        "transcripts": [".pi/agent/sessions/**/*.jsonl"],
        "run": ["pi", *PI, "-p", "{prompt}"], "resume": ["pi", *PI, "--continue", "-p", "{prompt}"],
        "settings": {".pi/agent/models.json": {"providers": {"stub": {
            "baseUrl": "{url}", "api": "openai-completions", "apiKey": "none", "models": [PI_MODEL]}}}},
        "in": {"compaction": {"settings": {".pi/agent/settings.json": {"compaction": {"keepRecentTokens": 100}}}}},
        "tools": {"read": ("read", {"path": "{path}"}),
                  "edit": ("edit", {"path": "{path}", "edits": [{"oldText": "{old}", "newText": "{new}"}]}),
                  "create": ("write", {"path": "{path}", "content": "{new}"}),
                  "shell": ("bash", {"command": "{command}"})},
        "lacks": {"subagent": "the client has no subagents: the tools of its requests are `read`, `bash`, `edit` and `write`"},
    },
    "cline": {
        "package": "cline@3.0.65",
        "transcripts": [".cline/data/sessions/**/*.json"],
        "before": ["cline", "auth", "-p", "openai", "-k", "none", "-m", "stub", "-b", "{url}"],
        "run": ["cline", *CLINE, "{prompt}"],
        # "interactive mode requires a TTY": it goes on with a session in a terminal only.
        "resume": ["cline", *CLINE, "--id", "{session}"], "resumes_in_terminal": True,
        "sessions": ".cline/data/sessions/*/*.messages.json",
        "env": {"CLINE_HUB_PORT": "{free}"},  # its daemon outlives it
        "tools": {"read": ("read_files", {"files": [{"path": "{path}"}]}),
                  "edit": ("editor", {"path": "{path}", "old_text": "{old}", "new_text": "{new}"}),
                  "create": ("editor", {"path": "{path}", "new_text": "{new}"}),
                  "shell": ("run_commands", {"commands": ["{command}"]}),
                  "agent": ("spawn_agent", {"systemPrompt": "You are a part.", "task": "{task}"})},
        "cannot_hold": True, "lists_skills_by_name": True,
        "compacts_by_length": True,  # it counts the texts of a request itself, and takes at most four times as many tokens for them
        "takes_no_long_text": True,  # "Editor input too large": 6,000 characters
    },
    "droid": {
        "package": "droid@0.215.0",
        "transcripts": [".factory/sessions/**/*.jsonl"],
        # `exec -s` ends with 1 and without a request for a user who is not logged in; a fork goes on with a copy of the session.
        "run": ["droid", *DROID, "{prompt}"], "resume": ["droid", *DROID, "--fork", "{session}", "{prompt}"],
        "sessions": ".factory/sessions/**/*.jsonl",
        "settings": {".factory/settings.json": {"customModels": [{
            "model": "stub", "displayName": "stub", "baseUrl": "{url}", "apiKey": "none",
            "provider": "generic-chat-completion-api", "maxOutputTokens": 8000}]}},
        "in": {"compaction": {"settings": {".factory/settings.json": {"compactionTokenLimit": 100000}}}},
        "tools": {"read": ("Read", {"file_path": "{path}"}),
                  "edit": ("Edit", {"file_path": "{path}", "old_str": "{old}", "new_str": "{new}"}),
                  "create": ("Create", {"file_path": "{path}", "content": "{new}"}),
                  "shell": ("Execute", {"command": "{command}", "summary": "run", "riskLevel": "low",
                                        "riskLevelReason": "a test"})},
        # The log says "No access token available", and the result of the tool "Could not reach the daemon".
        "lacks": {"subagent": "not run: the client offers its tool `Task`, and ends a call of it without a request of the subagent for a user who is not logged in "
                              '("Could not reach the daemon" in the next request)'},
    },
}


def version(name):
    """Returns the version of a client that the lab runs."""
    return CLIENTS[name]["package"].rsplit("@", 1)[1]


def pin(name, wanted):
    """Makes another version the one that the lab runs, until it ends."""
    CLIENTS[name]["package"] = f"{CLIENTS[name]['package'].rsplit('@', 1)[0]}@{wanted}"


def write_pin(name, old):
    """Writes the version into this file, in the place of the one that was there."""
    file, package = pathlib.Path(__file__), CLIENTS[name]["package"]
    module = package.rsplit("@", 1)[0]
    file.write_text(file.read_text().replace(f'"{module}@{old}"', f'"{package}"'))


def filled(value, words):
    """Puts words in braces into every text of a value."""
    if isinstance(value, str):
        return re.sub(r"\{(\w+)\}", lambda match: words.get(match[1], match[0]), value)
    if isinstance(value, dict):
        return {key: filled(item, words) for key, item in value.items()}
    return [filled(item, words) for item in value] if isinstance(value, list) else value
