#!/usr/bin/env python3
"""Measures `brief` beside the tools that do a part of its work, all in one run, and writes docs/dev/benchmarks.md.

    cargo xtask compare            # builds what ships, installs the peers, and calls this

Peers come from their registries in the versions below. Every contestant of a workload does the same work on the same content,
by turns, so that a noise of the machine meets all of them. CPU is user and system time of the program and all that it
started, the best of all runs; wall time the same; memory the peak. `--only WORD` runs some workloads and writes their parts of the page
anew; `--quick` runs the sizes below 100,000 files in fewer rounds, and writes nothing.
"""
import argparse
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import workloads

NPM = {"rulesync": "17.0.0", "@intellectronica/ruler": "0.3.44", "skills": "1.7.4", "node": "22"}
PYPI = {"apm-cli": "0.35.0", "skills-ref": "0.1.1", "agnix": "0.59.3"}
CRATES = {"upskill": "0.6.3"}
CLIENTS = ["claude", "copilot", "opencode", "cursor"]
MORE_CLIENTS = ["aider", "amp", "antigravity", "augment", "cline", "codex", "continue", "crush", "droid", "gemini", "goose", "junie", "kilo", "kiro", "pi", "qwen", "roo", "trae", "warp", "windsurf", "zed"]
SKILLS_REF = "import pathlib, sys; from skills_ref import validate\nfor place in sorted(pathlib.Path(sys.argv[1]).iterdir()): validate(place)"


def install(into):
    """Installs the peers, and returns the beginning of each one's command."""
    into.mkdir(parents=True, exist_ok=True)
    modules, python = into / "node_modules", into / "venv" / "bin"
    if not (modules / ".package-lock.json").exists():
        wanted = [f"{name}@{version}" for name, version in NPM.items()]
        subprocess.run(["npm", "install", "--silent", "--no-save", "--prefix", str(into), *wanted], check=True)
    if not (python / "agnix").exists():
        subprocess.run([sys.executable, "-m", "venv", str(into / "venv")], check=True)
        wanted = [f"{name}=={version}" for name, version in PYPI.items()]
        subprocess.run([str(python / "pip"), "install", "--quiet", *wanted], check=True)
    for name, version in CRATES.items():
        if not (into / "bin" / name).exists():
            command = ["cargo", "install", "--quiet", "--locked", "--root", str(into), f"{name}@{version}"]
            if subprocess.run(command, check=False).returncode:
                print(f"{name} {version} does not build here and is left out", file=sys.stderr)
    node = str(modules / "node" / "bin" / "node")
    found = {
        "rulesync": [node, str(modules / "rulesync/dist/cli/index.js")],
        "ruler": [node, str(modules / "@intellectronica/ruler/dist/cli/index.js")],
        "skills": [node, str(modules / "skills/bin/cli.mjs")],
        "apm": [str(python / "apm")],
        "skills-ref": [str(python / "python"), "-c", SKILLS_REF],
        "agnix": [str(python / "agnix")],
        "upskill": [str(into / "bin" / "upskill")],
        "rg": [shutil.which("rg") or ""],
        "cp": ["/bin/sh", "-c", 'for copy in 1 2 3; do cp -r "$0" "copy-$copy"; done'],
    }
    return {name: command for name, command in found.items() if os.path.exists(command[0])}


class Run:
    """The best of several runs."""

    def __init__(self):
        self.cpu, self.wall, self.failed = math.inf, math.inf, None

    def measure(self, command, directory, stdin, env):
        begun = time.monotonic()
        with open(os.devnull, "wb") as nowhere:
            child = subprocess.Popen(command, cwd=directory, stdin=subprocess.PIPE if stdin else subprocess.DEVNULL, stdout=nowhere, stderr=nowhere, env=env)
            if stdin:
                child.stdin.write(stdin)
                child.stdin.close()
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = 0
        self.wall = min(self.wall, (time.monotonic() - begun) * 1000)
        self.cpu = min(self.cpu, (usage.ru_utime + usage.ru_stime) * 1000)
        self.failed = os.waitstatus_to_exitcode(status) or self.failed


def system_calls(command, directory, stdin, env, log):
    """Counts the system calls of one run; None without strace, or when the run takes minutes with it."""
    if shutil.which("strace") is None:
        return None
    strace = ["timeout", "--signal=KILL", "60", "strace", "-f", "-qq", "-o", str(log), *command]
    if subprocess.run(strace, cwd=directory, input=stdin or b"", env=env, check=False, capture_output=True).returncode in (124, 137, -9):
        log.unlink(missing_ok=True)
        return None
    with open(log, encoding="utf-8", errors="replace") as lines:
        count = sum("+++" not in line and "resumed>" not in line for line in lines)
    log.unlink()
    return count


def peak_memory(command, directory, stdin, env):
    """Returns the peak in MB. A process that this one starts itself begins with the memory of this one."""
    done = subprocess.run(["/usr/bin/time", "-f", "%M", *command], cwd=directory, input=stdin or b"", env=env, check=False, capture_output=True)
    return int(done.stderr.split()[-1]) / 1024


def picture(contest):
    """Returns the name of the plot."""
    return "bench-" + "".join(letter if letter.isalnum() else "-" for letter in contest.name.lower()) + ".svg"


class Contest:
    """One workload: a tree for each size, and a command of each contestant in it."""

    def __init__(self, name, sizes, runs=5, unit="items"):
        self.name, self.sizes, self.runs, self.unit = name, sizes, runs, unit
        self.contestants, self.bounds, self.undone = {}, [], []
        self.results, self.calls, self.memory = {}, {}, {}

    def add(self, name, prepare):
        """`prepare(size, round)` returns the command, the directory and what goes to standard input."""
        self.contestants[name] = prepare

    def bound(self, words, holds):
        """`holds(results)` returns a number and whether it is good enough; results are by (contestant, size)."""
        self.bounds.append((words, holds))

    def run(self, env, work):
        for size in self.sizes:
            for number in range(self.runs):
                for name, prepare in self.contestants.items():
                    command, directory, stdin = prepare(size, number)
                    self.results.setdefault((name, size), Run()).measure(command, directory, stdin, env)
        size = self.sizes[-1]
        for name, prepare in self.contestants.items():
            self.calls[name] = system_calls(*prepare(size, self.runs), env, work / "calls")
            self.memory[name] = peak_memory(*prepare(size, self.runs + 1), env)

    def exponent(self, name, start):
        """The slope of the time beyond the start of the program in the logarithms of both, over the two largest sizes."""
        if len(self.sizes) < 2:
            return None
        less, more = (max(self.results[name, size].cpu - start, 0.05) for size in self.sizes[-2:])
        return math.log(more / less) / math.log(self.sizes[-1] / self.sizes[-2])


def contests(brief, floor, peers, work, quick):
    """Describes all workloads."""
    def once(kind, make):
        def of(size):
            top = work / kind / str(size)
            if not top.exists():
                make(str(top), size)
            return str(top)
        return of

    def anew(kind, source):
        """A copy of the tree for each run."""
        def of(size, number):
            return workloads.fresh(source(size), str(work / "runs" / f"{kind}-{size}-{number}-{time.monotonic_ns()}"))
        return of

    def empty(kind):
        def of():
            top = work / "runs" / f"{kind}-{time.monotonic_ns()}"
            (top / ".git").mkdir(parents=True)
            return str(top)
        return of

    found = []

    def contest(*args, **options):
        found.append(Contest(*args, **options))
        return found[-1]

    nothing = empty("start")()
    start = contest("start", [1], runs=20, unit="")
    start.add("brief", lambda *_: ([brief, "--version"], nothing, None))
    start.add("an empty Rust program", lambda *_: ([floor], nothing, None))
    for name, words in (("rulesync", ["--version"]), ("ruler", ["--help"]), ("skills", ["--version"]), ("apm", ["--version"]), ("agnix", ["--version"]), ("upskill", ["--version"])):
        if name in peers:
            start.add(name, lambda *_, name=name, words=words: (peers[name] + words, nothing, None))
    start.bound("an empty program + 1 ms", lambda results: at_most(results["brief", 1].cpu - results["an empty Rust program", 1].cpu, 1))

    # Compilers: the same 280 items for four clients.
    shares = [0.25, 0.5, 1, 2]
    sources = {name: once(f"compile-{name}", make) for name, make in (("brief", workloads.for_brief), ("rulesync", workloads.for_rulesync), ("ruler", workloads.for_ruler))}
    wanted = [word for client in CLIENTS for word in ("--client", client)]
    ours = [brief, "registry", "build", "--out", "out", *wanted]
    theirs = {"rulesync": (["generate", "--silent"], ["generate", "--check", "--silent"]), "ruler": (["apply", "--local-only", "--subagents", "--no-backup"], ["apply", "--local-only", "--subagents", "--no-backup", "--dry-run"])}
    for kind in ("cold", "unchanged", "check"):
        compiled = contest(f"compile for 4 clients, {kind}", shares, runs=4, unit="x 280 items")
        kept = {}

        def prepared(name, command, first, size, number, kind=kind, kept=kept):
            copy = anew(f"compile-{name}", sources[name])
            if kind == "cold":
                return command, copy(size, number), None
            if (name, size) not in kept:
                kept[name, size] = copy(size, number)
                subprocess.run(first, cwd=kept[name, size], check=False, capture_output=True)
            return command, kept[name, size], None

        compiled.add("brief", lambda size, number, prepared=prepared, kind=kind: prepared("brief", ours + (["--check"] if kind == "check" else []), ours, size, number))
        for name, (apply, check) in theirs.items():
            if name in peers:
                words = check if kind == "check" else apply
                compiled.add(name, lambda size, number, name=name, words=words, apply=apply, prepared=prepared: prepared(name, peers[name] + words, peers[name] + apply, size, number))
        times = {"cold": 40, "unchanged": 100, "check": 100}[kind]
        compiled.bound(f"at least {times} x less CPU than rulesync", lambda results, times=times: ratio(results, "rulesync", "brief", 1, times))
        if kind == "cold":
            compiled.bound("at least 10 x less CPU than ruler", lambda results: ratio(results, "ruler", "brief", 1, 10))
            compiled.undone = ["ruler has no commands, no scopes and no agents of opencode"]

    everywhere = contest("compile for 25 clients, cold", shares, runs=3, unit="x 280 items")
    all_clients = [word for client in CLIENTS + MORE_CLIENTS for word in ("--client", client)]
    everywhere.add("brief", lambda size, number: ([brief, "registry", "build", "--out", "out", *all_clients], anew("all-brief", sources["brief"])(size, number), None))
    if "rulesync" in peers:
        everywhere.add("rulesync", lambda size, number: (peers["rulesync"] + ["generate", "--silent", "--targets", "*"], anew("all-rulesync", sources["rulesync"])(size, number), None))
        everywhere.undone = ["rulesync writes for all clients that it knows, some of which are others than ours"]

    # Installers: fifty skills for three clients.
    registry = once("skills", workloads.skill_registry)
    three = [word for client in CLIENTS[:3] for word in ("--client", client)]
    installed = contest("install skills for 3 clients, from a directory", [12, 25, 50, 100], runs=4, unit="skills")
    commands = {
        "brief": lambda source: [brief, "add", source, *three],
        "skills": lambda source: peers["skills"] + ["add", source, "--skill", "*", "-a", "claude-code", "-a", "github-copilot", "-a", "opencode", "-y", "--copy"],
        "apm": lambda source: peers["apm"] + ["install", source, "--target", "claude,copilot,opencode"],
        "upskill": lambda source: peers["upskill"] + ["add", f"{source}/skills", "-p", "-q"],
        "cp": lambda source: peers["cp"] + [f"{source}/skills"],
    }
    for name, command in commands.items():
        if name == "brief" or name in peers:
            installed.add("cp -r, 3 times" if name == "cp" else name, lambda size, _, command=command, name=name: (command(registry(size)), empty(f"install-{name}")(), None))
    installed.bound("at least 5 x less CPU than skills", lambda results: ratio(results, "skills", "brief", 50, 5))
    installed.bound("at least 20 x less CPU than apm", lambda results: ratio(results, "apm", "brief", 50, 20))
    installed.bound("at most 1.5 x `cp -r`", lambda results: at_most(results["brief", 50].cpu / results["cp -r, 3 times", 50].cpu, 1.5))
    installed.undone = ["skills keeps no commit and no hash of a file that it wrote", "upskill writes the first file of each skill alone"]
    cloned = contest("install skills for 3 clients, from git", [12, 25, 50, 100], runs=3, unit="skills")
    cloned.add("brief", lambda size, _: ([brief, "add", f"git::file://{registry(size)}", *three], empty("git")(), None))
    if "skills" in peers:
        cloned.add("skills", lambda size, _: (commands["skills"](f"file://{registry(size)}/.git"), empty("git")(), None))
    cloned.undone = ["apm asks the forge of a repository and is left out"]

    # Checkers.
    plain = once("plain", workloads.plain_skills)
    checked = contest("lint skills", [100, 200, 400, 800], unit="skills")
    checked.add("brief", lambda size, _: ([brief, "lint"], plain(size), None))
    if "skills-ref" in peers:
        checked.add("skills-ref, one process", lambda size, _: (peers["skills-ref"] + [plain(size)], plain(size), None))
    if "agnix" in peers:
        checked.add("agnix", lambda size, _: (peers["agnix"] + ["."], plain(size), None))
    checked.bound("at least 20 x less CPU than skills-ref", lambda results: ratio(results, "skills-ref, one process", "brief", 400, 20))
    checked.undone = ["skills-ref checks six fields and no text"]
    public = once("public", workloads.public_tree)
    tree = contest("lint a tree like public collections", [250, 500, 1000, 2000], unit="files")
    tree.add("brief", lambda size, _: ([brief, "lint"], public(size), None))
    if "agnix" in peers:
        tree.add("agnix", lambda size, _: (peers["agnix"] + ["."], public(size), None))

    # Importers.
    client_files = once("import", workloads.copilot_files)
    copies = anew("import", client_files)
    imported = contest("import the files of a client", [100, 250, 500, 1000], runs=3, unit="files")
    imported.add("brief", lambda size, number: ([brief, "import"], copies(size, number), None))
    if "rulesync" in peers:
        words = ["import", "--targets", "copilot", "--features", "rules,subagents,skills"]
        imported.add("rulesync", lambda size, number, words=words: (peers["rulesync"] + words, copies(size, number), None))

    # Questions and whole projects.
    sizes = [1_000, 10_000, 100_000] + ([] if quick else [1_000_000])
    wide = once("wide", workloads.wide_repository)
    path = "part-1/deep-0/0/file-0.ts"
    asked = contest("one question", sizes, runs=60, unit="files")
    asked.add("brief", lambda size, _: ([brief, "context", path, "--on", "edit"], wide(size), None))
    asked.add("an empty Rust program", lambda size, _: ([floor], wide(size), None))
    asked.bound("the largest within 5 % of the smallest", lambda results: at_most(results["brief", sizes[-1]].cpu / results["brief", sizes[0]].cpu, 1.05))
    hooked = contest("hook, with receipts", sizes, runs=60, unit="files")
    payload = lambda top: json.dumps({"session_id": "bench", "hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_input": {"file_path": f"{top}/{path}"}, "cwd": top}).encode()
    hooked.add("brief", lambda size, _: ([brief, "hook", "claude", "--repeat"], wide(size), payload(wide(size))))
    hooked.add("an empty Rust program", lambda size, _: ([floor], wide(size), None))
    hooked.bound("at 100,000 files at most 2 x an empty program", lambda results: at_most(results["brief", 100_000].cpu / results["an empty Rust program", 100_000].cpu, 2))
    listing = (peers.get("rg") or []) + ["--files", "--hidden", "--glob", "!.git"]
    for name, words, times, size in (("catalog of a project", ["context", "--all"], 1.3, 100_000), ("tree", ["tree"], 4, sizes[-1]), ("tokens", ["tokens"], 4, sizes[-1]), ("coverage", ["coverage"], 4, sizes[-1])):
        whole = contest(name, sizes, runs=3, unit="files")
        whole.add("brief", lambda size, _, words=words: ([brief, *words], wide(size), None))
        if "rg" in peers:
            whole.add("rg --files", lambda size, _: (listing, wide(size), None))
            whole.bound(f"at {size:,} files at most {times} x rg --files", lambda results, times=times, size=size: at_most(results["brief", size].cpu / results["rg --files", size].cpu, times))
    between = contest("diff of two revisions", sizes, runs=3, unit="files")
    between.add("brief", lambda size, _: ([brief, "diff", "HEAD~1...HEAD"], wide(size), None))
    between.add("git diff --stat", lambda size, _: (["git", "diff", "--stat", "HEAD~1", "HEAD"], wide(size), None))
    between.undone = ["git compares files; brief tells which files get other guidance"]
    tasks = once("tasks", workloads.task_rules)
    task = contest("assemble a prompt", [10, 100, 1_000, 4_000], unit="rules")
    task.add("brief", lambda size, _: ([brief, "task", "fix-bug", "-p", "issue=1"], tasks(size), None))
    return found


def ratio(results, slow, quick, size, times):
    if (slow, size) not in results:
        return None
    value = results[slow, size].cpu / results[quick, size].cpu
    return f"{value:.1f} x", value >= times


def at_most(value, most):
    return f"{value:.2f}", value <= most


def plot(contest, path):
    """Draws time against size, both logarithmic."""
    width, height, left, bottom = 560, 300, 56, 40
    points = {name: [(size, contest.results[name, size].cpu) for size in contest.sizes] for name in contest.contestants}
    xs = [size for size in contest.sizes]
    ys = [max(cpu, 0.1) for line in points.values() for _, cpu in line]
    low, high = math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys)) + 0.01)
    x = lambda size: left + (math.log(size / xs[0]) / math.log(xs[-1] / xs[0])) * (width - left - 150)
    y = lambda cpu: 16 + (high - math.log10(max(cpu, 0.1))) / (high - low) * (height - 16 - bottom)
    colors = ["#2563eb", "#d97706", "#059669", "#dc2626", "#7c3aed", "#0891b2"]
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">',
             "<style>text{fill:#374151}.line{stroke:#d1d5db}@media(prefers-color-scheme:dark){text{fill:#d1d5db}.line{stroke:#4b5563}}</style>",
             f"<title>{contest.name}: CPU in milliseconds against {contest.unit}</title>"]
    for power in range(low, high + 1):
        at = y(10 ** power)
        parts.append(f'<line class="line" x1="{left}" x2="{width - 150}" y1="{at:.1f}" y2="{at:.1f}"/><text x="{left - 6}" y="{at + 4:.1f}" text-anchor="end">{10.0 ** power:g} ms</text>')
    for size in xs:
        parts.append(f'<text x="{x(size):.1f}" y="{height - bottom + 18}" text-anchor="middle">{size:,}</text>')
    parts.append(f'<text x="{(left + width - 150) / 2}" y="{height - 6}" text-anchor="middle">{contest.unit}</text>')
    taken = []
    for number, (name, line) in enumerate(points.items()):
        color = colors[number % len(colors)]
        way = " ".join(f"{x(size):.1f},{y(cpu):.1f}" for size, cpu in line)
        at = y(line[-1][1])
        while any(abs(at - other) < 13 for other in taken):
            at += 13
        taken.append(at)
        parts.append(f'<polyline fill="none" stroke="{color}" stroke-width="2" points="{way}"/><text x="{width - 142}" y="{at + 4:.1f}" style="fill:{color}">{name}</text>')
    path.write_text("\n".join(parts) + "\n</svg>\n", encoding="utf-8")


def servers(brief):
    """Returns the tables of the two servers, which no peer has."""
    here = pathlib.Path(__file__).parent
    ask = lambda name, *words: json.loads(subprocess.run([sys.executable, str(here / name), "--brief", brief, *words], check=True, capture_output=True, text=True).stdout)
    mcp = ask("mcp.py", "--memory", "20000")
    rows = ["\n## MCP server under load\n", "Questions over HTTP about 20 directories, each client with a pause of 10 ms between two; times are those of a client.\n",
            "| | p50 | p99 | the server's CPU for an answer |", "| --- | ---: | ---: | ---: |"]
    for name, found in (("8 clients", mcp["context"]), ("1 client without a pause", mcp["alone"])):
        rows.append(f"| {name} | {found['p50_ms']:.2f} ms | {found['p99_ms']:.2f} ms | {found['cpu_ms']:.2f} ms |")
    kib = mcp["memory"]["kib"]
    rows += ["", f"Memory is {kib[0] / 1024:.0f} MB at the beginning and {kib[-1] / 1024:.0f} MB after {mcp['memory']['requests']:,} questions. A changed file is told after {mcp['change_ms']['median']:.0f} ms."]
    rows += ["\n## Language server\n", "Every keystroke makes or mends a mistake; the time ends when the editor has the problems.\n",
             "| files | first answer | keystroke p50 | p99 | hover p50 | memory |", "| ---: | ---: | ---: | ---: | ---: | ---: |"]
    for files in (1_000, 10_000, 30_000, 100_000):
        found = ask("lsp.py", "--files", str(files))
        rows.append(f"| {files:,} | {found['first_ms']:,} ms | {found['keystroke_ms']['p50']:.1f} ms | {found['keystroke_ms']['p99']:.1f} ms | {found['hover_ms']['p50']:.1f} ms | {found['kib'] / 1024:.0f} MB |")
    return rows


def page(all_of_them, start, servers):
    rows, parts = [], []
    for contest in all_of_them:
        for words, holds in contest.bounds:
            held = holds(contest.results)
            value, is_held = held or ("not measured", True)
            rows.append(f"| {contest.name} | {words} | {value} | {'yes' if is_held else '**no**'} |")
        parts += [f"\n## {contest.name[0].upper()}{contest.name[1:]}\n"]
        if len(contest.sizes) > 1:
            parts += [f"![CPU against size](pictures/{picture(contest)})\n"]
        parts += [f"| | {' | '.join(f'{size:,} {contest.unit}' if contest.unit else 'CPU' for size in contest.sizes)} | wall time | memory | system calls | grows as |", "| --- |" + " ---: |" * (len(contest.sizes) + 4)]
        for name in contest.contestants:
            runs = [contest.results[name, size] for size in contest.sizes]
            exponent = contest.exponent(name, start.get(name, 0))
            shown = [f"{run.cpu:,.1f} ms" + (" (fails)" if run.failed and name != "brief" and "lint" not in contest.name and "check" not in contest.name else "") for run in runs]
            calls = contest.calls.get(name)
            parts.append(f"| {name} | {' | '.join(shown)} | {runs[-1].wall:,.1f} ms | {contest.memory[name]:,.0f} MB | {f'{calls:,}' if calls else '–'} | {f'n^{exponent:.2f}' if exponent is not None else '–'} |")
        parts += [""] + [f"{words[0].upper()}{words[1:]}." for words in contest.undone]
    versions = ", ".join(f"{name} {version}" for name, version in {**NPM, **PYPI, **CRATES}.items() if name != "node")
    head = ("# Measured beside others\n\n"
            "`cargo xtask compare` writes this page: it makes the content, installs the peers from their registries and runs all of them by turns on one machine.\n"
            "CPU is user and system time with all that a program starts, the best of several runs; wall time, memory (the peak) and system calls are those of the largest size. The last column compares the two largest sizes.\n"
            f"A linter's or a check's exit code says what it found and is not looked at. Peers: {versions}.\n\n"
            "| work | bound | measured | held |\n| --- | --- | ---: | --- |\n")
    text = head + "\n".join(rows) + "\n" + "\n".join(parts + servers).rstrip() + "\n"
    return re.sub(r"\n{3,}", "\n\n", text)


def merged(old, new):
    """Returns a page with the parts and the bounds of another."""
    head, *parts = old.split("\n## ")
    fresh, *changed = new.split("\n## ")
    title = lambda part: part.split("\n", 1)[0]
    instead = {title(part): part for part in changed}
    bound = lambda line: tuple(line.split(" | ")[:2])
    measured = {bound(line): line for line in fresh.splitlines()}
    head = "\n".join(measured.get(bound(line), line) if line.startswith("| ") else line for line in head.splitlines()) + "\n"
    return "\n## ".join([head] + [instead.get(title(part), part).rstrip("\n") + "\n" for part in parts])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--brief", type=pathlib.Path, required=True)
    parser.add_argument("--floor", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--peers", type=pathlib.Path, required=True, help="where the peers are installed")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=pathlib.Path, help="the page; pictures go to `pictures` beside it")
    args = parser.parse_args()
    work = args.work.absolute()
    home = work / "home"
    shutil.rmtree(work / "runs", ignore_errors=True)
    home.mkdir(parents=True, exist_ok=True)
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "DISABLE_TELEMETRY": "1", "DO_NOT_TRACK": "1", "CI": "1", "LANG": "C.UTF-8"}
    peers = install(args.peers.absolute())
    all_of_them = contests(str(args.brief.absolute()), str(args.floor.absolute()), peers, work, args.quick)
    # What a program needs to start is taken off the others' times.
    chosen = [contest for contest in all_of_them if not args.only or contest.name == "start" or any(word in contest.name for word in args.only)]
    start, missed = {}, 0
    for contest in chosen:
        if args.quick:
            contest.runs = min(contest.runs, 3)
        contest.run(env, work)
        if contest.name == "start":
            start = {name: contest.results[name, 1].cpu for name in contest.contestants}
        print(f"\n{contest.name}")
        for name in contest.contestants:
            runs = [contest.results[name, size] for size in contest.sizes]
            print(f"  {name:28} " + "  ".join(f"{size:>9,}: {run.cpu:9.1f} ms{'' if not run.failed else f' (exit {run.failed})'}" for size, run in zip(contest.sizes, runs)) + f"  {contest.memory[name]:5.0f} MB  {contest.calls[name] or 0:,} calls", flush=True)
        for words, holds in contest.bounds:
            held = holds(contest.results)
            if held:
                missed += not held[1]
                print(f"  {words}: {held[0]}{'' if held[1] else '  MISSED'}", flush=True)
        shutil.rmtree(work / "runs", ignore_errors=True)
    if args.out and not args.quick:
        for contest in chosen:
            if len(contest.sizes) > 1:
                plot(contest, args.out.parent / "pictures" / picture(contest))
        if args.only and args.out.exists():
            text = merged(args.out.read_text(encoding="utf-8"), page(chosen, start, []))
        else:
            text = page(chosen, start, servers(str(args.brief.absolute())))
        args.out.write_text(text, encoding="utf-8")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
