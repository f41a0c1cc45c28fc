#!/usr/bin/env python3
"""Runs real coding agents against a scripted model, and checks what their hooks bring to it.

`cargo xtask clients` calls this. It installs each client with npm in a pinned version (`NAME@VERSION` pins another one), sets its hook up with `brief hook install`,
runs sessions of every shape in a marked project, and compares what `brief context --client` says for those moments with the
recorded requests: everything has to arrive, once, and what is for before a change before that change. Then a `brief` that is
missing, crashes, hangs or answers nonsense takes the place of the real one. The tables go to docs/dev/clients.md.

No account is needed: every client talks to a server on this machine. Python 3.11 and npm are.
"""

import argparse
import datetime
import json
import pathlib
import subprocess
import sys

from lab import cache, page
from lab.faults import hooks_of, run_faults
from lab.rules import run_rules, wrong_cells
from lab.session import Lab, install
from lab.shapes import ALONE, SHAPES
from lab.table import CLIENTS, pin, version, write_pin
from lab.verdict import judge

__all__ = ["CLIENTS", "install"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("clients", nargs="*", help="NAME, or NAME@VERSION for another version than the pinned one; default: all")
    parser.add_argument("--brief", type=pathlib.Path, required=True)
    parser.add_argument("--into", type=pathlib.Path, required=True, help="the directory of the installed clients")
    parser.add_argument("--shape", action="append", help="only sessions of this shape; `faults` are those in which brief fails, `rules` those with checks")
    parser.add_argument("--keep", type=pathlib.Path, help="keep the requests of each session in this directory")
    parser.add_argument("--results", type=pathlib.Path, required=True, help="the file of all results, which runs add to")
    parser.add_argument("--out", type=pathlib.Path, help="the page to write from the results")
    arguments = parser.parse_args()
    lab = Lab(arguments.into.absolute(), arguments.brief.absolute(), arguments.keep and arguments.keep.absolute())
    failed = []
    for asked in arguments.clients or CLIENTS:
        name, _, wanted = asked.partition("@")
        old = version(name)
        problem = take(name, wanted) if wanted else None
        problem = problem or install(name, lab.into)
        if problem:
            print(f"{name} {version(name)}: not installed: {problem}", flush=True)
            pin(name, old)
            failed.append(asked)
            continue
        if version(name) != old:
            write_pin(name, old)
        for shape in [*SHAPES, ALONE]:
            if (arguments.shape and shape.name not in arguments.shape) or not shape.fits(name, CLIENTS[name]):
                continue
            result = run_shape(lab, name, shape)
            note(arguments.results, name, lambda client: client["shapes"].update({shape.name: result}))
            if not page.is_clean(name, shape.name, result):
                failed.append(f"{name} ({shape.name})")
        if not arguments.shape or "faults" in arguments.shape:
            for hook in hooks_of(name):
                cells = run_faults(lab, name, hook)
                print(f"{name}, hook of {hook}: {cells}", flush=True)
                note(arguments.results, name, lambda client: client["faults"].update({hook: {"version": version(name), "cells": cells}}))
                failed += [f"{name} ({fault})" for fault, word in cells.items() if word not in ("works", "silent")]
        if not arguments.shape or "rules" in arguments.shape:
            cells = run_rules(lab, name)
            note(arguments.results, name, lambda client: client.update({"rules": {"version": version(name), "date": str(datetime.date.today()), "cells": cells}}))
            failed += [f"{name} ({case}: {word})" for case, word in wrong_cells(name, cells)]
    if arguments.out:
        page.write(arguments.out, json.loads(arguments.results.read_text()))
    print(f"failed: {', '.join(failed) or 'none'}")
    return 1 if failed else 0


def take(name, wanted):
    """Takes another version of a client, `latest` for the newest one. Returns the problem."""
    module = CLIENTS[name]["package"].rsplit("@", 1)[0]
    done = subprocess.run(["npm", "view", f"{module}@{wanted}", "version"], capture_output=True, text=True)
    found = done.stdout.split()
    if done.returncode != 0 or len(found) != 1:
        return f"npm knows no version {wanted} of {module}"
    pin(name, found[0])
    return None


def run_shape(lab, name, shape):
    """Runs a session and returns its result; prints one line for it and one for each finding."""
    run = lab.run(name, shape)
    measured = {key: value for key, value in cache.measure(run).items() if key != "list"}
    if shape is ALONE or not shape.proof(run):
        print(f"{name}, {shape.name}: {'run' if shape is ALONE else 'did not come about'}", flush=True)
        return {"void": True, "cache": measured}
    verdict = judge(name, shape, run)
    numbers = {kind: verdict.count(kind) for kind in ("lost", "double", "late", "unexpected")}
    said = ", ".join(f"{count} {kind}" for kind, count in numbers.items() if count)
    problem = "" if verdict.worked else f" (not ended{': ' if run.problem else ''}{run.problem})"
    print(f"{name}, {shape.name}: {verdict.reached} of {verdict.promised}{', ' if said else ''}{said}{problem}", flush=True)
    for kind, mark, where, words in verdict.findings:
        print(f"    {kind:10} {where}{mark} {words}", flush=True)
    return {"promised": verdict.promised, "reached": verdict.reached, **numbers, "worked": verdict.worked,
            "findings": verdict.findings, "cache": measured, "joins": run.joins}


def note(file, name, change):
    """Adds to the results in a file."""
    results = json.loads(file.read_text()) if file.exists() else {}
    client = results.setdefault(name, {"shapes": {}, "faults": {}})
    if client.get("version") != version(name):
        client["shapes"] = {}
    client["version"], client["date"] = version(name), str(datetime.date.today())
    change(client)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(page.shown(results))


if __name__ == "__main__":
    sys.exit(main())
