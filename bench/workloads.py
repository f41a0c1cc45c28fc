"""The workloads of `compare.py`: the same content, in the layout that each tool reads.

Everything is made by numbers alone, so the same arguments give the same bytes. A workload makes its tree once for each size;
`fresh` copies what a run changes.
"""
import json
import os
import pathlib
import shutil
import subprocess

from run import make_skills, make_task_project, write

EXTENSIONS = ["ts", "py", "rs", "go", "md"]


def git(directory, *words):
    settings = ["-c", "user.name=bench", "-c", "user.email=bench@example.com", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *settings, *words], cwd=directory, check=True, stdout=subprocess.DEVNULL)


def header(fields):
    return "---\n" + "".join(f"{key}: {json.dumps(value)}\n" for key, value in fields.items()) + "---\n\n"


def body(number, parts):
    return f"This is number {number}.\n\n" + "".join(
        f"## Part {part}\n\nKeep handlers thin in {number}, and validate all input before it is written.\n\n"
        f"- Never return raw errors to a client.\n- Write a test that fails first.\n\n" for part in range(parts))


def guidance(share):
    """200 rules, 50 skills with two files beside each, 20 agents and 10 commands, or a share of them."""
    count = lambda number: max(round(number * share), 1)
    rules = [(f"rule-{number:04}", [f"src/part-{number % 40}/**/*.{EXTENSIONS[number % 5]}"], body(number, 6)) for number in range(count(200))]
    skills = [(f"skill-{number:04}", body(number, 8)) for number in range(count(50))]
    agents = [(f"agent-{number:04}", body(number, 4)) for number in range(count(20))]
    commands = [(f"command-{number:04}", body(number, 2)) for number in range(count(10))]
    return rules, skills, agents, commands


def for_brief(top, share):
    rules, skills, agents, commands = guidance(share)
    for name, globs, text in rules:
        scope = "scope:\n  paths:\n" + "".join(f"    - {json.dumps(glob)}\n" for glob in globs)
        write(f"{top}/rules/{name}/RULE.md", f"---\nschema: 1\nname: {name}\ndescription: Use for {name}\n{scope}---\n\n{text}")
    for kind, file, items in (("skills", "SKILL.md", skills), ("agents", "AGENT.md", agents), ("commands", "COMMAND.md", commands)):
        for name, text in items:
            write(f"{top}/{kind}/{name}/{file}", f"---\nschema: 1\nname: {name}\ndescription: Use for {name}\n---\n\n{text}")
    beside(top, "skills", skills)


def beside(top, folder, skills):
    for name, text in skills:
        for part in range(2):
            write(f"{top}/{folder}/{name}/references/{part}.md", text)


def for_rulesync(top, share):
    rules, skills, agents, commands = guidance(share)
    for name, globs, text in rules:
        write(f"{top}/.rulesync/rules/{name}.md", header({"root": False, "targets": ["*"], "description": f"Use for {name}", "globs": globs}) + text)
    for name, text in skills:
        write(f"{top}/.rulesync/skills/{name}/SKILL.md", header({"name": name, "description": f"Use for {name}", "targets": ["*"]}) + text)
    beside(top, ".rulesync/skills", skills)
    for name, text in agents:
        write(f"{top}/.rulesync/subagents/{name}.md", header({"name": name, "targets": ["*"], "description": f"Use for {name}"}) + text)
    for name, text in commands:
        write(f"{top}/.rulesync/commands/{name}.md", header({"description": f"Use for {name}", "targets": ["*"]}) + text)
    settings = {"targets": ["claudecode", "copilot", "opencode", "cursor"], "features": ["rules", "skills", "subagents", "commands"], "delete": False}
    write(f"{top}/rulesync.jsonc", json.dumps(settings))


def for_ruler(top, share):
    rules, skills, agents, _ = guidance(share)
    for name, _, text in rules:
        write(f"{top}/.ruler/rules/{name}.md", text)
    for name, text in skills:
        write(f"{top}/.ruler/skills/{name}/SKILL.md", header({"name": name, "description": f"Use for {name}"}) + text)
    beside(top, ".ruler/skills", skills)
    for name, text in agents:
        write(f"{top}/.ruler/agents/{name}.md", header({"name": name, "description": f"Use for {name}"}) + text)
    write(f"{top}/.ruler/ruler.toml", 'default_agents = ["claude", "copilot", "opencode", "cursor"]\n\n[subagents]\nenabled = true\n')


def skill_registry(top, count):
    """Skills with the amount of files that real ones have: fifty have 279 files and 3 MB."""
    make_skills(top, skills=count, beside=count * 229 // 50)
    write(f"{top}/apm.yml", "name: bench\nversion: 1.0.0\ndescription: A registry\n")
    git(top, "init", "-q")
    git(top, "add", ".")
    git(top, "commit", "-qm", "skills")


def plain_skills(top, count):
    """Skills of the open standard, which every checker takes."""
    for number in range(count):
        name = f"skill-{number:04}"
        fields = {"name": name, "description": f"Reads tables of kind {number}. Use it when a user names such a table."}
        write(f"{top}/{name}/SKILL.md", header(fields) + body(number, 10))


def public_tree(top, count):
    """A tree as collections publish it: rules, instructions, agents, skills and settings of several clients."""
    for number in range(count // 5):
        write(f"{top}/.cursor/rules/rule-{number}.mdc", f"---\ndescription: For {number}\nglobs: src/{number}/**\nalwaysApply: false\n---\n\n{body(number, 4)}")
        write(f"{top}/.github/instructions/part-{number}.instructions.md", f"---\napplyTo: 'src/{number}/**'\n---\n\n{body(number, 4)}")
        write(f"{top}/.claude/agents/agent-{number}.md", header({"name": f"agent-{number}", "description": f"Use it for part {number}", "tools": "Read, Grep"}) + body(number, 4))
        write(f"{top}/.claude/skills/skill-{number}/SKILL.md", header({"name": f"skill-{number}", "description": f"Reads tables of kind {number}. Use it when a user names one."}) + body(number, 6))
        write(f"{top}/src/{number}/main.ts", "export {};\n")
    write(f"{top}/.claude/settings.json", '{"permissions": {"allow": ["Bash(git:*)"]}}\n')
    write(f"{top}/AGENTS.md", body(0, 6))
    git(top, "init", "-q")


def wide_repository(top, files):
    """A repository of that many files with guidance in all formats, 50 files in a directory. Its last commit changes two rules."""
    for number in range(files // 50):
        directory = f"{top}/part-{number % 100}/deep-{number // 100 % 100}/{number // 10_000}"
        os.makedirs(directory, exist_ok=True)
        for file in range(50):
            os.close(os.open(f"{directory}/file-{file}.{EXTENSIONS[file % 5]}", os.O_CREAT | os.O_WRONLY, 0o644))
    for number in range(20):
        write(f"{top}/part-{number}/AGENTS.yaml", f"context:\n  - content: Part {number} is thin.\n    match: ['**/*.ts']\n")
    write(f"{top}/AGENTS.md", "Write tests.\n")
    write(f"{top}/.context/always.md", "---\ntrigger: always\n---\nTimes are UTC.\n")
    write(f"{top}/.agents/rules/tests.md", "Write a test that fails first.\n")
    write(f"{top}/.claude/rules/api.md", "---\npaths: ['part-1/**']\n---\nAnswer in JSON.\n")
    write(f"{top}/.cursor/rules/py.mdc", "---\nglobs: **/*.py\nalwaysApply: false\n---\nType hints.\n")
    git(top, "init", "-q")
    for text in ("Type hints.\n", "Type hints everywhere.\n"):
        write(f"{top}/.cursor/rules/py.mdc", f"---\nglobs: **/*.py\nalwaysApply: false\n---\n{text}")
        write(f"{top}/part-2/AGENTS.yaml", f"context:\n  - content: {json.dumps(text)}\n    match: ['**/*.py']\n")
        git(top, "add", "-A")
        git(top, "commit", "-q", "-m", "guidance")


def task_rules(top, rules):
    make_task_project(top, rules, skills=max(rules // 5, 1), size=3000)


def copilot_files(top, count):
    """Instructions, agents and skills in the files of one client."""
    for number in range(count // 4):
        write(f"{top}/.github/instructions/part-{number}.instructions.md", f"---\ndescription: Part {number}\napplyTo: 'src/{number}/**'\n---\n\n{body(number, 4)}")
        write(f"{top}/.github/agents/agent-{number}.agent.md", header({"name": f"agent-{number}", "description": f"Use it for part {number}"}) + body(number, 4))
        for part in range(2):
            write(f"{top}/.github/skills/skill-{number}-{part}/SKILL.md", header({"name": f"skill-{number}-{part}", "description": f"Use it for table {number} {part}."}) + body(number, 6))
    git(top, "init", "-q")


def fresh(source, top):
    """Copies a project that a run changes. It is a repository, so that no tool looks above it."""
    shutil.copytree(source, top, symlinks=True)
    if not (pathlib.Path(top) / ".git").exists():
        git(top, "init", "-q")
    return top
