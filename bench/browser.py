#!/usr/bin/env python3
"""Measures the ability `browser`: how soon the first page is there, and what one more call costs.

usage: browser.py [--brief PROGRAM] [--calls N] [--runs N]

It serves a page on this machine, and calls a tool that opens it and reads it again and again. Prints one line of JSON,
in milliseconds:

  {"ready_ms": {"median", "max"}, "call_ms": {"median", "max"}, "rest_ms": {"median", "without"}}

`ready` is the first `open`: the start of the browser and a small page. `call` is the mean of `page.text("h1")` in that
page. `rest` is the rest of the run, the end of the browser and the removal of its profile included; `without` is a run
that has no browser.
"""
import argparse
import http.server
import json
import pathlib
import statistics
import subprocess
import tempfile
import threading
import time

AGENT = """---
abilities:
  allow: [browser, tool]
---
# Bench

Reads pages.

## Tools

```js
const scheme = (name) => ({ name, description: "d", parameters: { type: "object" } });
return {
  read: {
    fn: async ({ url, calls }, ctx, host) => {
      const started = Date.now();
      const page = await host.browser.open(url);
      const opened = Date.now();
      for (let index = 0; index < calls; index += 1) await page.text("h1");
      return { ready: opened - started, call: (Date.now() - opened) / calls };
    },
    scheme: scheme("read"),
  },
  nothing: { fn: () => 1, scheme: scheme("nothing") },
};
```
"""


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = b"<!doctype html><title>T</title><h1>Hello</h1>"
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def run(brief, directory, host, tool, arguments):
    """Calls a tool; returns its answer and the seconds of the whole run."""
    began = time.monotonic()
    done = subprocess.run(
        [brief, "agent", "call", "agents/dev_bench.agent.md", tool, json.dumps(arguments), "--grant", "browser",
         "--allow-host", host], cwd=directory, capture_output=True, text=True, check=True)
    return json.loads(done.stdout), time.monotonic() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--brief", default="brief")
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--runs", type=int, default=5)
    args = parser.parse_args()
    args.brief = str(pathlib.Path(args.brief).resolve()) if "/" in args.brief else args.brief
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    host = f"localhost:{server.server_port}"
    with tempfile.TemporaryDirectory() as top:
        agents = pathlib.Path(top) / "agents"
        agents.mkdir()
        (agents / "dev_bench.agent.md").write_text(AGENT)
        url = f"http://{host}/"
        worker = [run(args.brief, top, host, "nothing", {})[1] * 1000 for _ in range(args.runs)]
        found = [run(args.brief, top, host, "read", {"url": url, "calls": args.calls}) for _ in range(args.runs)]
    ready = [answer["ready"] for answer, _ in found]
    calls = [answer["call"] for answer, _ in found]
    rest = [seconds * 1000 - answer["ready"] - answer["call"] * args.calls for answer, seconds in found]
    print(json.dumps({
        "ready_ms": {"median": round(statistics.median(ready)), "max": round(max(ready))},
        "call_ms": {"median": round(statistics.median(calls), 2), "max": round(max(calls), 2)},
        "rest_ms": {"median": round(statistics.median(rest)), "without": round(statistics.median(worker))},
    }))


if __name__ == "__main__":
    main()
