#!/usr/bin/env python3
"""Talks to a served agent with the official Python SDK and prints what it saw, as JSON.

usage: mcp-client.py [--sdk SPEC] [--mode MODE]... [--call TOOL JSON]... [--prompt NAME JSON]... -- COMMAND...

COMMAND starts the server, such as `brief agent serve FILE`. The SDK is installed into a virtual environment
that is removed at the end; MCP_CLIENT_VENV names one to keep and use again. SPEC is what pip installs,
`mcp` unless said otherwise; `mcp<2` knows only the revisions with `initialize`.

MODE is `auto` (asks what the server speaks), `legacy` (with `initialize`) or a revision without it, such as
`2026-07-28`; each one is a session of its own, and one line of output:

  {"mode", "protocol", "server": {"name", "version", "title"}, "instructions",
   "tools": [{"name", "description", "schema"}], "prompts": [{"name", "description", "arguments": {name: required}}],
   "calls": [{"name", "is_error", "text"} or {"name", "code", "error"}],
   "texts": [{"name", "text"} or {"name", "code", "error"}]}

Exit codes: 0 done, 1 the server did not do as it should, 2 usage, 3 pip cannot install the SDK. With
MCP_CLIENT_SKIP=1 the last is 77 instead, for test suites that may skip.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import venv

SKIP = "MCP_CLIENT_SKIP"
VENV = "MCP_CLIENT_VENV"


def arguments(args):
    asked = {"sdk": "mcp", "modes": [], "calls": [], "prompts": [], "command": []}
    while args:
        word = args.pop(0)
        if word == "--":
            asked["command"] = args
            break
        if word == "--sdk" and args:
            asked["sdk"] = args.pop(0)
        elif word == "--mode" and args:
            asked["modes"].append(args.pop(0))
        elif word in ("--call", "--prompt") and len(args) >= 2:
            asked["calls" if word == "--call" else "prompts"].append([args.pop(0), json.loads(args.pop(0))])
        else:
            sys.exit(usage(f"what is `{word}`?"))
    if not asked["command"]:
        sys.exit(usage("there is no command after `--`"))
    return asked


def usage(problem):
    print(f"{problem}\n\n{__doc__}", file=sys.stderr)
    return 2


def python_with(sdk, directory):
    """Returns a Python that has the SDK."""
    python = pathlib.Path(directory) / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not python.exists():
        venv.create(directory, with_pip=True)
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", sdk]
    # Standard output is ours.
    if subprocess.run(install, stdout=sys.stderr).returncode == 0:
        return python
    print(f"pip cannot install `{sdk}`; set {SKIP}=1 to skip what needs it", file=sys.stderr)
    sys.exit(77 if os.environ.get(SKIP) == "1" else 3)


async def look(client, asked):
    """Asks for everything. Both generations of the SDK have these four."""
    seen = {}
    tools = (await client.list_tools()).tools
    seen["tools"] = [
        {"name": tool.name, "description": tool.description, "schema": field(tool, "input_schema", "inputSchema")}
        for tool in tools
    ]
    seen["prompts"] = [
        {
            "name": prompt.name,
            "description": prompt.description,
            "arguments": {argument.name: bool(argument.required) for argument in prompt.arguments or []},
        }
        for prompt in (await client.list_prompts()).prompts
    ]
    seen["calls"], seen["texts"] = [], []
    for name, given in asked["calls"]:
        try:
            result = await client.call_tool(name, given)
            text = "\n".join(block.text for block in result.content)
            seen["calls"].append({"name": name, "is_error": bool(field(result, "is_error", "isError")), "text": text})
        except Exception as error:
            seen["calls"].append({"name": name, **failure(error)})
    for name, given in asked["prompts"]:
        try:
            result = await client.get_prompt(name, given)
            text = "\n".join(message.content.text for message in result.messages)
            seen["texts"].append({"name": name, "text": text})
        except Exception as error:
            seen["texts"].append({"name": name, **failure(error)})
    return seen


def field(value, *names):
    """Returns the first field that is there: the second generation has other names."""
    return next((getattr(value, name) for name in names if hasattr(value, name)), None)


def failure(error):
    """An error of the protocol has a code; anything else is a failure of ours."""
    told = getattr(error, "error", error)
    if not hasattr(told, "code"):
        raise error
    return {"code": told.code, "error": told.message}


def described(mode, protocol, server, instructions, seen):
    names = {name: field(server, name) for name in ("name", "version", "title")}
    return {"mode": mode, "protocol": protocol, "server": names, "instructions": instructions, **seen}


async def session(mode, asked):
    import mcp

    program, *args = asked["command"]
    server = mcp.StdioServerParameters(command=program, args=args, env=dict(os.environ))
    if hasattr(mcp, "Client"):
        async with mcp.Client(server, mode=mode, read_timeout_seconds=60) as client:
            seen = await look(client, asked)
            instructions = client.instructions
            return described(mode, client.protocol_version, client.server_info, instructions, seen)
    if mode not in ("auto", "legacy"):
        sys.exit(usage(f"this SDK cannot speak `{mode}`"))
    async with mcp.stdio_client(server) as (read, write), mcp.ClientSession(read, write) as client:
        hello = await client.initialize()
        seen = await look(client, asked)
        return described(mode, hello.protocolVersion, hello.serverInfo, hello.instructions, seen)


def inside(asked):
    import anyio

    for mode in asked["modes"] or ["auto"]:
        print(json.dumps(anyio.run(session, mode, asked), ensure_ascii=False), flush=True)


def main():
    asked = arguments(sys.argv[1:])
    if os.environ.get("MCP_CLIENT_INSIDE") == "1":
        return inside(asked)
    kept = os.environ.get(VENV)
    with tempfile.TemporaryDirectory() as fresh:
        python = python_with(asked["sdk"], kept or fresh)
        inner = [str(python), os.path.abspath(__file__), *sys.argv[1:]]
        sys.exit(1 if subprocess.run(inner, env={**os.environ, "MCP_CLIENT_INSIDE": "1"}).returncode else 0)


if __name__ == "__main__":
    main()
