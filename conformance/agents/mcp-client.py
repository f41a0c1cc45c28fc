#!/usr/bin/env python3
"""Talks to a served agent with the official Python SDK and prints what it saw, as JSON.

usage: mcp-client.py [--sdk SPEC] [--mode MODE]... [--call TOOL JSON]... [--prompt NAME JSON]...
                     [--resource NAME]... [--change FILE TEXT] (--url URL [--token TOKEN] | -- COMMAND...)
       mcp-client.py [--sdk SPEC] --install

COMMAND starts the server, such as `brief agent serve FILE`; URL is that of one that runs. With --resource, the resource of that
name is read. With --change, FILE gets that text (MODE in it is the mode), and the client waits until it is told of
the change of the first resource and of the list. The SDK is installed into a virtual environment
that is removed at the end; MCP_CLIENT_VENV names one to keep and use again, and --install only makes it. SPEC is what pip installs,
`mcp` unless said otherwise; `mcp<2` knows only the revisions with `initialize`.

MODE is `auto` (asks what the server speaks), `legacy` (with `initialize`) or a revision without it, such as
`2026-07-28`; each one is a session of its own, and one line of output:

  {"mode", "protocol", "server": {"name", "version", "title"}, "instructions",
   "tools": [{"name", "description", "schema"}], "prompts": [{"name", "description", "arguments": {name: required}}],
   "calls": [{"name", "is_error", "text"} or {"name", "code", "error"}],
   "texts": [{"name", "text"} or {"name", "code", "error"}],
   "resources": [{"name", "uri", "text"}], "told": [the kinds of notifications]}

Exit codes: 0 done, 1 the server did not do as it should, 2 usage, 3 pip cannot install the SDK. With
MCP_CLIENT_SKIP=1 the last is 77 instead, for test suites that may skip.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import venv

try:
    import fcntl
except ImportError:
    fcntl = None

SKIP = "MCP_CLIENT_SKIP"
VENV = "MCP_CLIENT_VENV"


def arguments(args):
    asked = {"sdk": "mcp", "modes": [], "calls": [], "prompts": [], "command": [], "url": None, "token": None,
             "resources": [], "change": None, "install": False}
    while args:
        word = args.pop(0)
        if word == "--":
            asked["command"] = args
            break
        if word == "--install":
            asked["install"] = True
        elif word in ("--sdk", "--url", "--token") and args:
            asked[word[2:]] = args.pop(0)
        elif word == "--resource" and args:
            asked["resources"].append(args.pop(0))
        elif word == "--change" and len(args) >= 2:
            asked["change"] = [args.pop(0), args.pop(0)]
        elif word == "--mode" and args:
            asked["modes"].append(args.pop(0))
        elif word in ("--call", "--prompt") and len(args) >= 2:
            asked["calls" if word == "--call" else "prompts"].append([args.pop(0), json.loads(args.pop(0))])
        else:
            sys.exit(usage(f"what is `{word}`?"))
    if not asked["command"] and not asked["url"] and not asked["install"]:
        sys.exit(usage("there is no command after `--`, and no address"))
    return asked


def usage(problem):
    print(f"{problem}\n\n{__doc__}", file=sys.stderr)
    return 2


def python_with(sdk, directory):
    """Returns a Python that has the SDK."""
    python = pathlib.Path(directory) / ("Scripts" if os.name == "nt" else "bin") / "python"
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", sdk]
    # Several tests may want it at once.
    with open(f"{directory}.lock", "w") as lock:
        if fcntl:
            fcntl.flock(lock, fcntl.LOCK_EX)
        if not python.exists():
            venv.create(directory, with_pip=True)
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
    if asked["resources"]:
        listed = {resource.name: str(resource.uri) for resource in (await client.list_resources()).resources}
        seen["resources"] = []
        for name in asked["resources"]:
            contents = (await client.read_resource(listed[name])).contents
            seen["resources"].append({"name": name, "uri": listed[name], "text": contents[0].text})
    return seen


async def told(client, mode, asked, seen, notices):
    """Changes a file, and returns the kinds of notifications that follow: one of the lists and one of the first resource."""
    import anyio

    path, text = asked["change"][0], asked["change"][1].replace("MODE", mode)
    uri = seen["resources"][0]["uri"]

    def is_enough():
        return {"resource_list_changed", "resource_updated"} <= set(notices)

    with anyio.move_on_after(20):
        if client.protocol_version >= "2026-07-28":
            async with client.listen(resources_list_changed=True, resource_subscriptions=[uri]) as events:
                pathlib.Path(path).write_text(text)
                async for event in events:
                    notices.append(kind_of(event))
                    if is_enough():
                        break
        else:
            await client.subscribe_resource(uri)
            pathlib.Path(path).write_text(text)
            while not is_enough():
                await anyio.sleep(0.02)
    return sorted(set(notices))


def kind_of(event):
    """Returns `resource_list_changed` for `ResourcesListChangedEvent`, whatever the generation calls it."""
    words = re.findall("[A-Z][a-z]+", type(getattr(event, "root", event)).__name__)
    return "_".join(word.lower().rstrip("s") for word in words if word not in ("Notification", "Event"))


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


def over_http(asked):
    """Returns the connection to a server at an address, with its token."""
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    headers = {"Authorization": f"Bearer {asked['token']}"} if asked["token"] else {}
    return streamable_http_client(asked["url"], http_client=httpx2.AsyncClient(headers=headers, timeout=60))


async def session(mode, asked):
    import mcp

    program, *args = asked["command"] or [""]
    server = mcp.StdioServerParameters(command=program, args=args, env=dict(os.environ))
    if hasattr(mcp, "Client"):
        notices = []

        async def heard(message):
            if not isinstance(message, Exception):
                notices.append(kind_of(message))

        server = over_http(asked) if asked["url"] else server
        async with mcp.Client(server, mode=mode, read_timeout_seconds=60, message_handler=heard) as client:
            seen = await look(client, asked)
            if asked["change"]:
                seen["told"] = await told(client, mode, asked, seen, notices)
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
        python = python_with(asked["sdk"], kept or os.path.join(fresh, "venv"))
        if asked["install"]:
            return
        inner = [str(python), os.path.abspath(__file__), *sys.argv[1:]]
        sys.exit(1 if subprocess.run(inner, env={**os.environ, "MCP_CLIENT_INSIDE": "1"}).returncode else 0)


if __name__ == "__main__":
    main()
