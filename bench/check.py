"""Measures `brief check` of a change of 1,000 files with 200 rules beside `git diff` of the same change (the bar is 2).

    python3 bench/check.py PROGRAM
"""

import os
import subprocess
import sys
import tempfile
import time

ROUNDS = 10


def git(directory, *args):
    environment = {"PATH": os.environ["PATH"], "HOME": directory, "GIT_CONFIG_NOSYSTEM": "1"}
    for who in ("AUTHOR", "COMMITTER"):
        environment[f"GIT_{who}_NAME"] = "Name"
        environment[f"GIT_{who}_EMAIL"] = "name@example.com"
    subprocess.run(["git", *args], cwd=directory, check=True, env=environment, stdout=subprocess.DEVNULL)


def write(directory, path, text):
    path = os.path.join(directory, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def lay_out(directory):
    """Makes a repository with 1,000 changed files of 200 lines, 20 of which are new."""
    rules = []
    for number in range(200):
        check = [
            f"forbid: {{ text: word{number}x }}",
            f"forbid: {{ text: '/\\bname{number}\\(/' }}",
            f"forbid: {{ change: 'generated{number}/**' }}",
            f"require: {{ change: 'docs/{number}.md', when: 'src/only{number}/**' }}",
        ][number % 4]
        rules.append(f"  - content: rule {number}\n    match: ['src/**']\n    check: {{ {check} }}\n")
    write(directory, "AGENTS.yaml", "context:\n" + "".join(rules))
    line = "    const value{0} = compute(first, second, {0}); // what a line of code looks like\n"
    for number in range(1000):
        write(directory, f"src/d{number % 40}/f{number}.ts", "".join(line.format(i) for i in range(200)))
    git(directory, "init", "--quiet")
    git(directory, "add", "--all")
    git(directory, "commit", "--quiet", "-m", "first")
    for number in range(1000):
        lines = [line.format(i + 1000 if 90 <= i < 110 else i) for i in range(200)]
        write(directory, f"src/d{number % 40}/f{number}.ts", "".join(lines))


def measure(command, directory):
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        subprocess.run(command, cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2]


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as directory:
        lay_out(directory)
        diff = measure(["git", "--no-pager", "diff", "--no-color"], directory)
        check = measure([program, "check"], directory)
        print(f"git diff {diff * 1000:.0f} ms, brief check {check * 1000:.0f} ms, {check / diff:.2f} x")


if __name__ == "__main__":
    main()
