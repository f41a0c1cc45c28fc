#!/usr/bin/env python3
"""Measures `brief` beside an empty program, in one run, on trees that it makes itself.

CPU is user + system time as the kernel counts it for the process, the best of all runs: on a shared
machine the best is the one that was disturbed least. RSS is the peak, read through `/usr/bin/time`
where that exists. Bounds are those that the project has set itself; the exit code is 1 when one is
missed, so that the script can guard a release. Usually called as `cargo xtask bench`.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys

from portable import measure_portable
from receipts import measure_receipts

EXTENSIONS = ["py", "go", "ts", "rs", "md"]
ACTIONS = ["read", "edit", "[edit, create]", "create", "all"]
TIMINGS = ["before", "after", "all"]


def context_file(number, entries=10):
    lines = ["context:"]
    for index in range(entries):
        lines += [
            f'  - content: "Rule {index} of {number}: keep handlers thin and validate all input"',
            f'    match: ["**/*.{EXTENSIONS[index % 5]}"]',
            f"    on: {ACTIONS[index % 5]}",
            f"    when: {TIMINGS[index % 3]}",
        ]
    return "\n".join(lines) + "\n"


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def make_hook_project(top):
    for directory in ["", "src", "src/api"]:
        write(os.path.join(top, directory, "AGENTS.yaml"), context_file(directory or "top", 5))
    write(os.path.join(top, "src/api/orders.py"), "")
    write(os.path.join(top, "CLAUDE.md"), "Answer in one paragraph.\n")
    write(os.path.join(top, ".context/always.md"), "---\ntrigger: always\n---\nTimes are UTC.\n")
    write(os.path.join(top, ".agents/rules/tests.md"), "Write a test that fails first.\n")
    write(os.path.join(top, ".cursor/rules/py.mdc"), "---\nglobs: **/*.py\nalwaysApply: false\n---\nType hints.\n")
    os.makedirs(os.path.join(top, ".git"), exist_ok=True)


def make_wide_tree(top):
    """2,000 directories (10 x 10 x 20) with ten entries each."""
    number = 0
    for a in range(10):
        for b in range(10):
            for c in range(20):
                write(f"{top}/a{a}/b{b}/c{c}/AGENTS.yaml", context_file(number))
                number += 1


def make_chain(top, depth=1990):
    """Nested directories with ten entries each, as deep as a path can be written."""
    os.makedirs(top, exist_ok=True)
    here = os.getcwd()
    os.chdir(top)
    for level in range(depth):
        with open("AGENTS.yaml", "w", encoding="utf-8") as file:
            file.write(context_file(level))
        os.makedirs("d", exist_ok=True)
        os.chdir("d")
    os.chdir(here)
    return "d/" * depth + "f.py"


def make_hosted_project(top):
    """Four levels, three of them with a context directory, five files."""
    for path in [".context/x.md", ".context/y.md", "a/.context/x.md", "a/.context/y.md", "a/b/c/.context/z.md"]:
        write(os.path.join(top, path), "---\ntrigger: always\n---\nText.\n")
    write(os.path.join(top, "a/b/c/f.ts"), "")
    return {"directories": 4, "contexts": 3, "files": 5}


def make_task_project(top, rules, skills, size):
    """A task with rules of about `size` bytes each, half of them for it, and skills."""
    sentence = "Keep handlers thin, and validate all input before it is written to the store. "
    body = (sentence * (size // len(sentence) + 1))[:size]
    for number in range(rules):
        language = "go" if number % 2 else "python"
        header = f"---\nlanguages:\n  - {language}\nstage: implementation\n---\n"
        write(f"{top}/.agents/rules/rule-{number:04}.md", f"{header}# Rule {number}\n\n{body}\n")
    for number in range(skills):
        header = f"---\nname: skill-{number}\ndescription: Use when number {number} is asked for\n---\n"
        write(f"{top}/.agents/skills/skill-{number:03}/SKILL.md", f"{header}{body}\n")
    write(f"{top}/.agents/commands/verify.md", "Run ${suite} before you say that it works.\n")
    write(f"{top}/.agents/tasks/fix-bug.md", "---\nmodel: any\n---\n# Fix ${issue}\n\n/verify suite=tests\n")


def portable_item(kind, name, fields, paragraphs):
    """An item of a source registry, about 150 bytes for each paragraph."""
    body = "".join(
        f"## Part {number}\n\nKeep handlers thin, and validate all input before it is written.\n\n"
        f"- Never return raw errors to a client.\n- Write a test that fails first.\n\n"
        for number in range(paragraphs)
    )
    header = f"schema: 1\nname: {name}\ndescription: Use when {name} is what the work is about\n{fields}"
    return f"---\n{header}metadata:\n  version: \"1.0.0\"\n---\n\n{body}"


def make_registry(top, rules, skills, agents, bundles):
    for number in range(rules):
        name = f"rule-{number:03}"
        scope = 'scope:\n  paths:\n    - "src/**/*.ts"\n' if number % 2 else ""
        write(f"{top}/rules/{name}/RULE.md", portable_item("rule", name, scope, 10))
    for number in range(skills):
        name = f"skill-{number:03}"
        text = portable_item("skill", name, "", 10) + "See [the reference](./references/a.md).\n"
        write(f"{top}/skills/{name}/SKILL.md", text)
        for path in ["references/a.md", "scripts/check.sh"]:
            write(f"{top}/skills/{name}/{path}", "A supporting file.\n" * 40)
    for number in range(agents):
        name = f"agent-{number:03}"
        write(f"{top}/agents/{name}/AGENT.md", portable_item("agent", name, "tools:\n  - bash\n", 10))
    for number in range(bundles):
        name = f"bundle-{number:02}"
        listed = "".join(f"    - rule-{index:03}\n" for index in range(number, rules, max(bundles, 1)))
        header = f"schema: 1\nname: {name}\ndescription: A bundle\nitems:\n  rules:\n{listed}"
        write(f"{top}/{name}.bundle.md", f"---\n{header}---\n\n## Bundle\n")


def make_skills(top, skills=50, beside=229, size=11_000):
    """Skills with the amount of files that fifty real ones have: 279 files, 3 MB."""
    line = "Keep handlers thin, and validate all input before it is written to the store.\n"
    for number in range(skills):
        name = f"skill-{number:03}"
        text = portable_item("skill", name, "", 40) + "See [the reference](./references/0.md).\n"
        write(f"{top}/skills/{name}/SKILL.md", text)
    for number in range(beside):
        skill, file = number % skills, number // skills
        write(f"{top}/skills/skill-{skill:03}/references/{file}.md", line * (size // len(line)))


def measure_agents(args, report):
    """A thousand agent files, checked in one run: no code of theirs is run."""
    top = os.path.join(args.work, "agents-project")
    names = []
    for number in range(1000):
        name = f"agents/dev_agent-{number:04}.agent.md"
        header = "---\nrecommended:\n  models: [small]\nabilities:\n  allow: [fs, tool]\n---\n"
        code = "```js\nreturn { echo: { fn: (args) => args, scheme: { name: 'echo', description: 'x', parameters: { type: 'object' } } } };\n```\n"
        body = f"# Agent {number}\nDoes one thing.\n\n## System\n\nYou are number {number}.\n\n## Rules\n\n- Be brief.\n\n## Tools\n\n{code}"
        write(os.path.join(top, name), header + body)
        names.append(name)
    value = cpu_ms([args.brief, "agent", "check"] + names, top, args.runs)
    report("agent check, 1,000 files", value, "300 ms", value <= 300)


def measure_hostile(args):
    """Goal R5: a hundred calls of the hook against each hostile project, each answered within 250 ms."""
    test = "a_hook_answers_every_hostile_project_in_time"
    command = ["cargo", "test", "-p", "brief-cli", "--test", "suite", test, "--", "--nocapture"]
    settings = {"BRIEF_PROGRAM": os.path.abspath(args.brief), "BRIEF_HOOK_CALLS": "100", "BRIEF_HOOK_LONGEST": "250"}
    return subprocess.run(command, env=os.environ | settings).returncode


def make_history(top, changed=50):
    """100,000 files in 2,000 directories and 311 AGENTS.yaml; the second commit changes some of these,
    the one at the top first, so that every file is concerned."""
    directories = [f"a{a}/b{b}/c{c}" for a in range(10) for b in range(10) for c in range(20)]
    above = [f"a{a}" for a in range(10)] + [f"a{a}/b{b}" for a in range(10) for b in range(10)]
    for directory in directories:
        for number in range(50):
            write(f"{top}/{directory}/file-{number}.{EXTENSIONS[number % 5]}", "")
    guidance = [os.path.join(directory, "AGENTS.yaml") for directory in ["", *above, *directories[::10]]]
    settings = ["-c", "user.name=bench", "-c", "user.email=bench@example.com", "-c", "init.defaultBranch=main"]
    git = [shutil.which("git")] + settings
    subprocess.run(git + ["init", "-q", top], check=True)
    for word, count in [("one", len(guidance)), ("two", changed)]:
        for path in guidance[:count]:
            write(os.path.join(top, path), context_file(f"{path} in revision {word}"))
        for command in [["add", "."], ["commit", "-qm", word]]:
            subprocess.run(git + command, cwd=top, check=True)


def add_every_dialect(top):
    """Guidance in every format, some fifty files of it on the way to any path."""
    write(f"{top}/AGENTS.md", "# Everything\n\nTimes are UTC.\n")
    write(f"{top}/CLAUDE.md", "@AGENTS.md\n")
    write(f"{top}/.github/copilot-instructions.md", "Explain a change before you make it.\n")
    write(f"{top}/.gitignore", "target/\nnode_modules/\n*.log\n")
    for number in range(10):
        scope = f"a{number}/**/*.ts"
        write(f"{top}/.claude/rules/r{number}.md", f"---\npaths: ['{scope}']\n---\nRule {number} for Claude.\n")
        write(f"{top}/.cursor/rules/r{number}.mdc", f"---\nglobs: {scope}\nalwaysApply: false\n---\nRule {number} for Cursor.\n")
        skill = f"---\nname: s{number}\ndescription: Does {number}. Use when it is needed.\n---\nSteps.\n"
        write(f"{top}/.claude/skills/s{number}/SKILL.md", skill)
        write(f"{top}/.agents/rules/r{number}.md", f"Rule {number} for everybody.\n")
        write(f"{top}/.context/c{number}.md", f"---\ntrigger: auto\nglobs: '{scope}'\n---\nContext {number}.\n")
        write(f"{top}/a{number}/b0/CLAUDE.md", f"Only here, {number}.\n")
        write(f"{top}/a{number}/b1/.context/here.md", f"Context only here, {number}.\n")
    agent = "---\nversion: '1.0.0'\nicon: x\n---\n\n# X\n\nDoes x.\n\n## System\n\nYou do x.\n"
    write(f"{top}/agents/dev_x.agent.md", agent)


def measure_engine(args, report, floor, many):
    """All dialects in the repository of 100,000 files."""
    top = os.path.join(args.work, "history")
    add_every_dialect(top)
    for name, extra in [("", []), (", client claude", ["--client", "claude"])]:
        command = [args.brief, "context", "a3/b1/c2/file-1.ts", "--on", "edit"] + extra
        value = cpu_ms(command, top, many)
        report(f"context, all dialects, 100,000 files{name}", value, "floor + 2 ms", value <= floor + 2)
    payload = json.dumps({
        "session_id": "bench", "hook_event_name": "PreToolUse", "tool_name": "Edit",
        "tool_input": {"file_path": os.path.join(top, "a3/b1/c2/file-1.ts")}, "cwd": top,
    }).encode()
    hook = [args.brief, "hook", "claude", "--repeat"]
    value = cpu_ms(hook, top, many, payload)
    report("hook, all dialects, 100,000 files", value, "floor + 2 ms", value <= floor + 2)
    ripgrep = shutil.which("rg")
    if ripgrep is None:
        print("no `rg` here: the catalog is not compared (cargo install ripgrep)")
    else:
        # Hidden files are looked at by both; the repository's own are not.
        listing = cpu_ms([ripgrep, "--files", "--hidden", "--glob", "!.git"], top, args.runs)
        value = cpu_ms([args.brief, "context", "--all"], top, args.runs)
        report("catalog of 100,000 files", value, f"1.3 x rg --files ({listing:.0f} ms)", value <= listing * 1.3)
    runs = max(args.runs // 4, 3)
    for name in ["lint", "tree", "tokens", "coverage"]:
        value = cpu_ms([args.brief, name], top, runs)
        report(f"{name}, 100,000 files", value, "", True)
    # The same again, with client files, rules and context in place of AGENTS.yaml.
    settings = ["-c", "user.name=bench", "-c", "user.email=bench@example.com"]
    git = [shutil.which("git")] + settings
    for word in ["three", "four"]:
        for number in range(10):
            for path in [f".claude/rules/r{number}.md", f".cursor/rules/r{number}.mdc", f".agents/rules/r{number}.md",
                         f".context/c{number}.md", f"a{number}/b0/CLAUDE.md"]:
                with open(os.path.join(top, path), "a", encoding="utf-8") as file:
                    file.write(f"In revision {word}.\n")
        for command in [["add", "."], ["commit", "-qm", word]]:
            subprocess.run(git + command, cwd=top, check=True)
    value = cpu_ms([args.brief, "diff", "HEAD~1", "HEAD"], top, runs)
    report("diff, 50 client files, rules, context", value, "2,000 ms", value <= 2000)
    items = os.path.join(args.work, "items")
    text = "context:\n" + "".join(f"- content: Item {number}.\n" for number in range(10_000))
    write(os.path.join(items, "AGENTS.yaml"), text)
    rss, alone = (rss_kb([args.brief, *command], items) for command in (["context", "x"], ["--version"]))
    if rss is not None:
        missed = (rss - alone) * 1024 > 10_000 * 1024 + len(text)
        print(f"{'memory of 10,000 items':44} {rss / 1024:8.2f} MB{'':8} 1 KB each + text{'  MISSED' if missed else ''}")


def measure_diff(args, report):
    """Two commits, and a commit beside the working tree; the CPU of git is in it."""
    top = os.path.join(args.work, "history")
    make_history(top)
    runs = max(args.runs // 4, 3)
    listing = cpu_ms([shutil.which("git"), "ls-tree", "-r", "HEAD"], top, runs)
    for name, command in [
        ("diff, 50 of 311 changed, 100,000 files", ["diff", "HEAD~1", "HEAD"]),
        ("diff, the same as JSON", ["diff", "--json", "HEAD~1", "HEAD"]),
        ("diff, the same with the working tree", ["diff", "HEAD~1"]),
        ("diff, nothing changed", ["diff", "HEAD", "HEAD"]),
    ]:
        value = cpu_ms([args.brief] + command, top, runs)
        report(name, value, f"2,000 ms (git ls-tree: {listing:.0f} ms)", value <= 2000)
    rss = rss_kb([args.brief, "diff", "HEAD~1", "HEAD"], top)
    if rss is not None:
        print(f"{'  its peak memory':44} {rss / 1024:8.2f} MB")


def measure_install(args, report):
    """An installation for three clients beside plain copies of the same files."""
    source = os.path.join(args.work, "skills50")
    make_skills(source)
    git = shutil.which("git")
    settings = ["-c", "user.name=bench", "-c", "user.email=bench@example.com", "-c", "init.defaultBranch=main"]
    for command in [["init", "-q"], ["add", "."], ["commit", "-qm", "skills"]]:
        subprocess.run([git] + settings + command, cwd=source, check=True)
    # Every round has directories of its own: a file system takes long to make files where many were just
    # removed, and would charge whoever comes after the larger tree.
    rounds = os.path.join(args.work, "rounds")
    best = {"cp": float("inf"), "clone": float("inf"), "add": float("inf"), "git": float("inf")}
    copy = [shutil.which("cp"), "-r", os.path.join(source, "skills")]
    for number in range(max(args.runs // 3, 4)):
        top = os.path.join(rounds, str(number))
        os.environ["XDG_CACHE_HOME"] = os.path.join(top, "cache")
        places = {}
        for name in ["add", "git"]:
            places[name] = os.path.join(top, name)
            # A repository of its own, so that nothing is installed in the one around it.
            os.makedirs(os.path.join(places[name], ".git"))
        copies = [cpu_ms(copy + [os.path.join(top, f"copy-{index}")], top, 1) for index in range(3)]
        clone = [git, "clone", "-q", "--depth", "1", f"file://{source}", os.path.join(top, "clone")]
        measured = {
            "cp": sum(copies),
            "clone": cpu_ms(clone, top, 1),
            "add": cpu_ms([args.brief, "add", source], places["add"], 1),
            "git": cpu_ms([args.brief, "add", f"git::file://{source}"], places["git"], 1),
        }
        best = {name: min(best[name], measured[name]) for name in best}
    bound = 1.5 * best["cp"]
    report("add, 50 skills, 279 files, 3 clients", best["add"], f"1.5 x cp x 3 ({best['cp']:.0f} ms)", best["add"] <= bound)
    bound += best["clone"]
    report("add, the same from local git", best["git"], f"clone ({best['clone']:.0f}) + the same", best["git"] <= bound)
    project = places["add"]
    rss = rss_kb([args.brief, "sync"], project)
    if rss is not None:
        print(f"{'  peak memory of a sync':44} {rss / 1024:8.2f} MB")
    for option in [[], ["--check"], ["--frozen"]]:
        value = cpu_ms([args.brief, "sync"] + option, project, args.runs)
        report(f"sync {' '.join(option)} with nothing to do, directory", value, "50 ms", value <= 50)
    project = places["git"]
    for option in [[], ["--check"], ["--frozen"]]:
        value = cpu_ms([args.brief, "sync"] + option, project, args.runs)
        report(f"sync {' '.join(option)} with nothing to do, git", value, "50 ms", value <= 50)
    shutil.rmtree(rounds, ignore_errors=True)


def system_calls(command, directory):
    """Counts the system calls of a program; None without strace."""
    try:
        log = os.path.join(directory, ".strace")
        subprocess.run(["strace", "-f", "-o", log] + command, cwd=directory, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(log, encoding="utf-8", errors="replace") as lines:
            count = sum("+++" not in line for line in lines)
        os.remove(log)
        return count
    except (OSError, subprocess.CalledProcessError):
        return None


def cpu_ms(command, directory, runs, stdin=b""):
    best = float("inf")
    for _ in range(runs):
        reader, writer = os.pipe()
        os.write(writer, stdin)
        os.close(writer)
        pid = os.fork()
        if pid == 0:
            os.dup2(reader, 0)
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            os.chdir(directory)
            os.execv(command[0], command)
        os.close(reader)
        _, _, usage = os.wait4(pid, 0)
        best = min(best, (usage.ru_utime + usage.ru_stime) * 1000)
    return best


def rss_kb(command, directory, stdin=b""):
    if not os.path.exists("/usr/bin/time"):
        return None
    timed = ["/usr/bin/time", "-f", "%M"] + command
    result = subprocess.run(timed, cwd=directory, input=stdin, capture_output=True, check=False)
    return int(result.stderr.split()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--brief", required=True)
    parser.add_argument("--floor", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--hostile", action="store_true", help="only the hook against every hostile project")
    args = parser.parse_args()
    if args.hostile:
        sys.exit(measure_hostile(args))

    hook_project = os.path.join(args.work, "hook")
    wide = os.path.join(args.work, "wide")
    chain = os.path.join(args.work, "chain")
    make_hook_project(hook_project)
    make_wide_tree(wide)
    # A repository of its own: below `target` it would count as ignored, and nothing would be read.
    subprocess.run([shutil.which("git"), "init", "-q", wide], check=True)
    deep_path = make_chain(chain)
    payload = json.dumps({
        "session_id": "bench",
        "hook_event_name": "PreToolUse",
        "tool_name": "Edit",
        "tool_input": {"file_path": os.path.join(hook_project, "src/api/orders.py")},
        "cwd": hook_project,
    }).encode()

    many = max(args.runs * 10, 100)
    floor = cpu_ms([args.floor], args.work, many)
    missed = 0
    print(f"floor (an empty program): {floor:.2f} ms CPU\n")
    print(f"{'work':44} {'CPU ms':>8} {'x floor':>8}   bound")

    def report(name, value, bound_text, ok):
        nonlocal missed
        missed += not ok
        print(f"{name:44} {value:8.2f} {value / floor:8.1f}   {bound_text}{'' if ok else '  MISSED'}")

    hook = [args.brief, "hook", "claude", "--repeat"]
    value = cpu_ms(hook, hook_project, many, payload)
    report("hook, a small project in five formats", value, "floor + 1 ms", value <= floor + 1)
    rss = rss_kb(hook, hook_project, payload)
    if rss is not None:
        missed += rss > 7 * 1024
        print(f"{'  its peak memory':44} {rss / 1024:8.2f} MB{'':8} 7 MB{'  MISSED' if rss > 7 * 1024 else ''}")
    for name, command, directory, bound in [
        ("context, 2,000 nested directories", ["context", deep_path], chain, 100),
        ("context --all --json, 20,000 entries", ["context", "--all", "--json"], wide, 80),
        ("lint, 20,000 entries", ["lint"], wide, 100),
    ]:
        value = cpu_ms([args.brief] + command, directory, args.runs)
        report(name, value, f"{bound} ms", value <= bound)
    small = cpu_ms([args.brief, "context", "a0/b0/c0/x.py"], wide, many)
    alone = os.path.join(args.work, "alone")
    write(os.path.join(alone, "a0/b0/c0/AGENTS.yaml"), context_file(0))
    same = cpu_ms([args.brief, "context", "a0/b0/c0/x.py"], alone, many)
    report("context, one file of 2,000 directories", small, "1.2 x alone", small <= same * 1.2)
    report("context, the same file alone", same, "", True)
    hosted = os.path.join(args.work, "hosted")
    size = make_hosted_project(hosted)
    command = [args.brief, "context", "a/b/c/f.ts", "--only", "context-dir", "--workspace", ".", "--json"]
    value = cpu_ms(command, hosted, many)
    nothing = cpu_ms([args.brief, "--version"], hosted, many)
    report("context, .context in 4 levels, 5 files", value, "", True)
    print(f"{'  beyond `brief --version`':44} {(value - nothing) * 1000:8.0f} µs")
    calls = system_calls(command, hosted)
    if calls is not None:
        calls -= system_calls([args.brief, "--version"], hosted)
        bound = size["directories"] + 3 * size["contexts"] + 3 * size["files"] + 12
        missed += calls > bound
        print(f"{'  its system calls beyond `--version`':44} {calls:8}{'':9}   {bound}{'  MISSED' if calls > bound else ''}")
    # An empty home, so that the user's own rules are not measured.
    os.environ["HOME"] = os.path.join(args.work, "home")
    os.makedirs(os.environ["HOME"], exist_ok=True)
    task = [args.brief, "task", "fix-bug", "-p", "issue=1"]
    few = os.path.join(args.work, "task-few")
    make_task_project(few, rules=6, skills=2, size=600)
    value = cpu_ms(task, few, many)
    report("task, 6 rules, 2 skills", value, "floor + 3 ms", value <= floor + 3)
    sizes = {}
    for rules, size in [(1000, 3000), (1000, 6000), (2000, 3000)]:
        top = os.path.join(args.work, f"task-{rules}-{size}")
        make_task_project(top, rules, skills=200, size=size)
        sizes[rules, size] = cpu_ms(task, top, args.runs)
    top = os.path.join(args.work, "task-1000-3000")
    value = sizes[1000, 3000]
    report("task, 1,000 rules x 3 KB, 200 skills", value, "60 ms", value <= 60)
    rss = rss_kb(task, top)
    if rss is not None:
        missed += rss > 40 * 1024
        print(f"{'  its peak memory':44} {rss / 1024:8.2f} MB{'':8} 40 MB{'  MISSED' if rss > 40 * 1024 else ''}")
    for key, name in [((1000, 6000), "task, twice the bytes"), ((2000, 3000), "task, twice the rules")]:
        report(name, sizes[key], "2.2 x", sizes[key] <= value * 2.2)
    registry = os.path.join(args.work, "registry")
    make_registry(registry, rules=200, skills=50, agents=20, bundles=10)
    best, copies = float("inf"), float("inf")
    for number in range(max(args.runs // 4, 3)):
        # Directories of its own for each round: see measure_install.
        out = os.path.join(args.work, "registry-outs", str(number))
        build = [args.brief, "registry", "build", "--out", out]
        best = min(best, cpu_ms(build, registry, 1))
        copies = min(copies, cpu_ms([shutil.which("cp"), "-r", out, out + "-copy"], registry, 1))
    files = sum(len(names) for _, _, names in os.walk(out))
    report(f"build, 280 items for 3 clients, {files} files", best, f"2 x cp ({copies:.0f} ms)", best <= copies * 2)
    value = cpu_ms(build, registry, args.runs)
    report("build, nothing changed", value, "30 ms", value <= 30)
    skills = os.path.join(args.work, "skills")
    make_registry(skills, rules=0, skills=400, agents=0, bundles=0)
    value = cpu_ms([args.brief, "lint"], skills, args.runs)
    report("lint, 400 skills", value, "60 ms", value <= 60)
    status = cpu_ms([args.brief], skills, args.runs)
    report("status, 400 skills", status, f"1.5 x lint ({value:.0f} ms)", status <= 1.5 * value)
    measure_agents(args, report)
    measure_receipts(args, report, cpu_ms, hook_project)
    measure_diff(args, report)
    measure_engine(args, report, floor, many)
    measure_install(args, report)
    measure_portable(args, report, sys.modules[__name__])
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
