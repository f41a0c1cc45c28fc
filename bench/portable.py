"""Import, builds for every client and listings of large repositories, beside `cp` and `git clone` in the same run.

`run.py` calls it; alone it measures only this: `bench/portable.py --brief BRIEF --work DIR`.
"""
import argparse
import os
import shutil
import subprocess
import sys

SENTENCE = "Keep handlers thin, and validate all input before it is written to the store."


def text(number, kind, paragraphs=8):
    """A text of about 2 KB; every tenth is said to three clients."""
    parts = "".join(
        f"## Part {part} of {kind} {number}\n\n{SENTENCE} This is {kind} {number}.\n\n"
        f"- Never return raw errors to {kind}.\n- Write a test of {kind} that fails first.\n\n"
        for part in range(paragraphs)
    )
    return f"# {kind.capitalize()} {number}\n\n{parts}"


def make_originals(top, write):
    """1,000 files of four clients: rules with scopes, agents with tools, commands with arguments, skills."""
    for number in range(200):
        kind = "shared" if number % 10 == 0 else "claude"
        header = f"---\npaths:\n  - 'src/{number}/**/*.ts'\n---\n\n"
        write(f"{top}/.claude/rules/rule-{number}.md", header + text(number, kind))
        kind = "shared" if number % 10 == 0 else "cursor"
        header = f"---\ndescription: Rule {number}\nglobs: src/{number}/**/*.ts\nalwaysApply: false\n---\n\n"
        write(f"{top}/.cursor/rules/rule-{number}.mdc", header + text(number, kind))
        kind = "shared" if number % 10 == 0 else "copilot"
        header = f"---\napplyTo: 'src/{number}/**/*.ts'\n---\n\n"
        write(f"{top}/.github/instructions/rule-{number}.instructions.md", header + text(number, kind))
    for number in range(150):
        header = f"---\nname: agent-{number}\ndescription: Use for {number}\ntools: Read, Grep, Bash\nmodel: sonnet\ncolor: blue\n---\n\n"
        write(f"{top}/.claude/agents/agent-{number}.md", header + text(number, "agent"))
        header = f"---\ndescription: Does {number}\nargument-hint: '[issue]'\n---\n\n"
        write(f"{top}/.opencode/command/command-{number}.md", header + text(number, "command") + "Look at $ARGUMENTS.\n")
    for number in range(100):
        header = f"---\nname: skill-{number}\ndescription: Use when number {number} is asked for\n---\n\n"
        write(f"{top}/.claude/skills/skill-{number}/SKILL.md", header + text(number, "skill"))
    os.makedirs(f"{top}/.git", exist_ok=True)


def measure_import(args, report, tools):
    top = os.path.join(args.work, "originals")
    make_originals(top, tools.write)
    best, copies = float("inf"), float("inf")
    for number in range(max(args.runs // 3, 4)):
        # Directories of its own for each round: see measure_install.
        place = os.path.join(args.work, "imports", str(number))
        shutil.copytree(top, place)
        copies = min(copies, tools.cpu_ms([shutil.which("cp"), "-r", place, place + "-copy"], top, 1))
        best = min(best, tools.cpu_ms([args.brief, "import"], place, 1))
    made = sum(len(names) for _, _, names in os.walk(os.path.join(place, "guidance")))
    assert made > 800, f"{made} files were imported"
    shutil.rmtree(os.path.join(args.work, "imports"))
    value = tools.cpu_ms([args.brief, "import", "--dry-run"], top, args.runs)
    report("import --dry-run, 1,000 files", value, f"{value / copies:.1f} x cp", True)
    report("import, 1,000 files", best, f"150 ms ({best / copies:.1f} x cp, {copies:.0f} ms)", best <= 150)


def measure_builds(args, report, tools):
    """280 items for every client that has outputs."""
    registry = os.path.join(args.work, "registry-all")
    tools.make_registry(registry, rules=200, skills=50, agents=20, bundles=10)
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../crates/profiles/clients")
    clients = sorted(name[:-5] for name in os.listdir(folder) if name.endswith(".toml"))
    has_outputs = lambda name: "\n[rule]" in open(os.path.join(folder, name + ".toml"), encoding="utf-8").read()
    clients = [name for name in clients if has_outputs(name)]
    best, copies = float("inf"), float("inf")
    rounds = os.path.join(args.work, "builds")
    for number in range(max(args.runs // 4, 3)):
        out = os.path.join(rounds, str(number))
        build = [args.brief, "registry", "build", "--out", out] + [part for name in clients for part in ("--client", name)]
        best = min(best, tools.cpu_ms(build, registry, 1))
        copies = min(copies, tools.cpu_ms([shutil.which("cp"), "-r", out, out + "-copy"], registry, 1))
    files = sum(len(names) for _, _, names in os.walk(out))
    assert files > 280 * 5, f"{files} files were built"
    bound = f"3 x cp ({copies:.0f} ms)"
    report(f"build, 280 items, {len(clients)} clients, {files} files", best, f"{bound}: {best / copies:.2f} x", best <= copies * 3)
    value = tools.cpu_ms(build, registry, args.runs)
    report(f"build, {len(clients)} clients, nothing changed", value, "60 ms", value <= 60)
    shutil.rmtree(rounds)


def make_collection(top, write):
    """A repository of 30,000 files: 600 agents, 600 rules, 600 skills, and the rest beside them."""
    for number in range(600):
        group = f"{top}/categories/{number % 20:02}"
        header = f"---\nname: agent-{number}\ndescription: Use for {number}\ntools: Read, Grep\n---\n\n"
        write(f"{group}/agents/agent-{number}.md", header + text(number, "agent", 3))
        write(f"{group}/rules/rule-{number}.mdc", f"---\nglobs: '*.ts'\n---\n\n{text(number, 'rule', 3)}")
        header = f"---\nname: skill-{number}\ndescription: Use when {number} is asked for\n---\n\n"
        write(f"{group}/skills/skill-{number}/SKILL.md", header + text(number, "skill", 3))
        for beside in range(7):
            write(f"{group}/skills/skill-{number}/references/{beside}.md", text(number * 100 + beside, "page", 3))
    for number in range(24_000):
        write(f"{top}/src/{number % 40:02}/{number % 7}/file-{number}.ts", f"export const number{number} = {number};\n")


def measure_listing(args, report, tools):
    source = os.path.join(args.work, "collection")
    make_collection(source, tools.write)
    git = shutil.which("git")
    settings = ["-c", "user.name=bench", "-c", "user.email=bench@example.com", "-c", "init.defaultBranch=main"]
    for command in [["init", "-q"], ["add", "."], ["commit", "--allow-empty", "-qm", "collection"]]:
        subprocess.run([git] + settings + command, cwd=source, check=True)
    before = os.environ.get("XDG_CACHE_HOME")
    listing = [args.brief, "list", f"git::file://{source}"]
    rounds = os.path.join(args.work, "listings")
    first, clone = float("inf"), float("inf")
    for number in range(max(args.runs // 6, 3)):
        top = os.path.join(rounds, str(number))
        os.makedirs(os.path.join(top, "project/.git"))
        os.environ["XDG_CACHE_HOME"] = os.path.join(top, "cache")
        command = [git, "clone", "-q", "--depth", "1", f"file://{source}", os.path.join(top, "clone")]
        clone = min(clone, tools.cpu_ms(command, top, 1))
        first = min(first, tools.cpu_ms(listing, os.path.join(top, "project"), 1))
    listed = subprocess.run(listing, cwd=os.path.join(top, "project"), capture_output=True, check=True).stdout
    assert len(listed.splitlines()) >= 1800, f"{len(listed.splitlines())} lines"
    bound = f"1.2 x clone --depth 1 ({clone:.0f} ms): {first / clone:.2f} x"
    report("list SOURCE, 30,000 files", first, bound, first <= clone * 1.2)
    value = tools.cpu_ms(listing, os.path.join(top, "project"), args.runs)
    report("list SOURCE, cached", value, "50 ms", value <= 50)
    shutil.rmtree(rounds)
    if before is None:
        del os.environ["XDG_CACHE_HOME"]
    else:
        os.environ["XDG_CACHE_HOME"] = before


def measure_portable(args, report, tools):
    measure_import(args, report, tools)
    measure_builds(args, report, tools)
    measure_listing(args, report, tools)


def main():
    import run as tools

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--brief", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--runs", type=int, default=20)
    args = parser.parse_args()
    missed = 0

    def report(name, value, bound, ok):
        nonlocal missed
        missed += not ok
        print(f"{name:48} {value:8.2f} ms CPU   {bound}{'' if ok else '  MISSED'}", flush=True)

    os.environ["HOME"] = os.path.join(args.work, "home")
    os.makedirs(os.environ["HOME"], exist_ok=True)
    measure_portable(args, report, tools)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
