#!/usr/bin/env python3
"""Compares the time of `brief lint` with that of another linter, on the same tree in one run.

    bench/lint.py TREE --brief target/dist/brief --other agnix .

TREE is a checkout of a public collection; it is not part of the project, and neither is the other linter. Both are
started in it by turns, and the least time of computing (user and system) counts. The bounds are those for a collection of
2,400 files: 0.2 s, and four times less than the other.
"""

import argparse
import os
import pathlib
import subprocess
import sys


def seconds(command, tree):
    """Returns the seconds of computing of one run."""
    with open(os.devnull, "wb") as nowhere:
        child = subprocess.Popen(command, cwd=tree, stdin=subprocess.DEVNULL, stdout=nowhere, stderr=nowhere)
        usage = os.wait4(child.pid, 0)[2]
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tree", type=pathlib.Path)
    parser.add_argument("--brief", type=pathlib.Path, required=True)
    parser.add_argument("--other", nargs="+", required=True, help="the other linter, with its arguments")
    parser.add_argument("--runs", type=int, default=7)
    arguments = parser.parse_args()
    commands = {"brief lint": [str(arguments.brief.absolute()), "lint"], arguments.other[0]: arguments.other}
    runs = {name: [] for name in commands}
    for _ in range(arguments.runs):
        for name, command in commands.items():
            runs[name].append(seconds(command, arguments.tree))
    files = sum(len(names) for _, _, names in os.walk(arguments.tree))
    print(f"{files} files in {arguments.tree}")
    for name, measured in runs.items():
        print(f"{name}: {min(measured)[0]:.3f} s of computing, {max(rss for _, rss in measured)} MB")
    ours, other = (min(measured)[0] for measured in runs.values())
    print(f"ratio: {other / ours:.1f}")
    return 0 if ours <= 0.2 and other / ours >= 4 else 1


if __name__ == "__main__":
    sys.exit(main())
