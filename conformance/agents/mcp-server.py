#!/usr/bin/env python3
"""A server of the official Python SDK: the tool `add` and the prompt `greet`.

usage: mcp-server.py stdio | mcp-server.py (streamable-http | sse) PORT

It runs in an environment that has the SDK, such as the one that mcp-client.py makes. Over HTTP, port 0 takes a
free one; the address is printed.
"""
import socket
import sys

from mcp.server import MCPServer

server = MCPServer("adder")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.prompt()
def greet(name: str) -> str:
    """Greets somebody."""
    return f"Hello {name}"


def main():
    kind, *rest = sys.argv[1:]
    if kind == "stdio":
        return server.run("stdio")
    with socket.socket() as free:
        free.bind(("127.0.0.1", int(rest[0])))
        port = free.getsockname()[1]
    path = "/sse" if kind == "sse" else "/mcp"
    print(f"http://127.0.0.1:{port}{path}", flush=True)
    return server.run(kind, host="127.0.0.1", port=port)


if __name__ == "__main__":
    main()
