"""Plants defects in real guidance files, and counts which of them `brief lint` finds.

    python3 bench/mutations.py PROGRAM REPOSITORY… [--count 1000] [--seed 1] [--minutes 60]

A repository is a directory with a git checkout; it is copied and left alone. Six classes: a target that is renamed, a link that is
broken, a header field that is misspelled, a tool that does not exist, a pattern that matches nothing, a pair of demands that contradict
each other. Beside each defect stands a control: a change of the same form that is right. A defect counts as found if there is a new
finding on its lines; a control, or any other new finding, is a false alarm. The table has recall and precision of each class.
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

NAMES = re.compile(r"(^|/)(AGENTS|CLAUDE|GEMINI)\.md$|\.mdc$|(^|/)SKILL\.md$|copilot-instructions\.md$|\.instructions\.md$"
                   r"|^\.claude/(rules|agents|commands)/.*\.md$|^\.github/agents/.*\.md$")
ELSEWHERE = re.compile(r"(^|/)(node_modules|vendor|templates?|fixtures?|testdata|__tests__|snapshots|archive|legacy|scaffold|examples?)(/|$)")


def run(program, directory, *args):
    done = subprocess.run([program, *args], cwd=directory, capture_output=True, text=True, timeout=300)
    return json.loads(done.stdout)


def findings(program, directory):
    """Returns the findings of both commands: (path, line, code, message). A file has the name that no link is part of."""
    top = os.path.realpath(directory)
    found = set()

    def real(path):
        return os.path.relpath(os.path.realpath(os.path.join(top, path)), top)

    for one in run(program, directory, "lint", "--json")["diagnostics"]:
        # One cause may show in several places.
        for place in [one, *one.get("also", [])]:
            found.add((real(place["path"]), place["line"], one["code"], place["message"]))
    for one in run(program, directory, "stale", "--json")["found"]:
        if one["likelihood"] != "possible":
            found.add((real(one["source"]["path"]), one["source"]["line"], "stale/" + one["kind"], one["message"]))
    return found


class Project:
    def __init__(self, source, into):
        self.name = os.path.basename(source.rstrip("/"))
        self.root = os.path.join(into, self.name)
        shutil.copytree(source, self.root, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        subprocess.run("git init -q . && git add -A && git -c user.name=a -c user.email=a@example.com commit -qm all", shell=True,
                       cwd=self.root, check=True, capture_output=True)
        listed = subprocess.run(["git", "-c", "core.quotePath=false", "ls-files"], cwd=self.root, capture_output=True, text=True).stdout.split("\n")
        self.files = [path for path in listed if path]
        self.texts = [path for path in self.files if NAMES.search(path) and not ELSEWHERE.search(path)
                      and not os.path.islink(os.path.join(self.root, path)) and self.is_plain(path)]
        # Directories that version control ignores are not read.
        self.ignored = {path for path in (".claude/agents/x.md", ".claude/rules/x.md", ".cursor/rules/x.mdc", ".github/instructions/x.md")
                        if not subprocess.run(["git", "check-ignore", "-q", path], cwd=self.root).returncode}
        self.changed = {}

    def is_ignored(self, path):
        return any(path.startswith(os.path.dirname(known)) for known in self.ignored)

    def is_plain(self, path):
        # A link to a directory on the way is another name for the same file.
        real = os.path.realpath(os.path.join(self.root, path))
        return real == os.path.join(os.path.realpath(self.root), path)

    def read(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8", errors="surrogateescape", newline="") as file:
            return file.read()

    def write(self, path, text):
        self.changed.setdefault(path, self.read(path) if os.path.exists(os.path.join(self.root, path)) else None)
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(text)

    def restore(self):
        for path, text in self.changed.items():
            if text is None:
                os.remove(os.path.join(self.root, path))
            else:
                self.write(path, text)
        self.changed = {}

    def append(self, path, line):
        """Adds a paragraph and returns its line."""
        text = self.read(path).rstrip("\n")
        # An open fence would swallow the paragraph.
        if len(re.findall(r"(?m)^\s*(```|~~~)", text)) % 2:
            return None
        text += "\n\n# More\n\n" + line + "\n"
        self.write(path, text)
        return text.count("\n")


def letters(random_, name):
    """Misspells a name: two letters change places, or one is added."""
    places = [index for index in range(1, len(name) - 1) if name[index] != name[index + 1] and name[index:index + 2].isalpha()]
    if places and random_.random() < 0.7:
        index = random_.choice(places)
        return name[:index] + name[index + 1] + name[index] + name[index + 2:]
    return name + random_.choice("xqz")


def plain_texts(project):
    """Texts that are always loaded, and no skills."""
    return [path for path in project.texts if not path.endswith("SKILL.md") and "/agents/" not in path
            and re.search(r"(AGENTS|CLAUDE|GEMINI)\.md$|copilot-instructions\.md$", path)]


# Each class yields (path, line or None for any in the file, is_defect).

def targets(project, random_):
    """Names of targets, in sentences and in blocks of shell, real or misspelled."""
    known = []
    if "Makefile" in project.files:
        text = project.read("Makefile")
        if not re.search(r"(?m)^(include|\$\()", text) and "$(eval" not in text:
            known += [f"make {name}" for name in re.findall(r"(?m)^([a-z][a-z0-9_-]+):(?!=)", text)]
    if "package.json" in project.files:
        scripts = json.loads(project.read("package.json")).get("scripts", {})
        tool = "pnpm" if "pnpm-lock.yaml" in project.files else "npm"
        known += [f"{tool} run {name}" for name in scripts if re.fullmatch(r"[a-z][a-z0-9:_-]+", name)]
    for name in ("justfile", "Justfile"):
        if name in project.files and "import" not in project.read(name):
            known += [f"just {recipe}" for recipe in re.findall(r"(?m)^([a-z][a-z0-9_-]+)[^:\n]*:(?!=)", project.read(name))]
    for path in project.files:
        if path.endswith("Cargo.toml") and not ELSEWHERE.search(path):
            name = re.search(r'(?m)^\[package\][^\[]*?^name = "([^"]+)"', project.read(path))
            known += [f"cargo test -p {name.group(1)}"] if name else []
    texts = [path for path in plain_texts(project) if "/" not in path]
    if not known or not texts:
        return
    forms = ["Run `{}` before each commit.", "- `{}` checks everything.", "Check with `{}`, then commit.", "```bash\n{}\n```",
             "```sh\n# all of it\n{}\n```", "The command is `{}`.", "```console\n$ {}\n```"]
    used = set()
    while True:
        command = random_.choice(known)
        is_defect = random_.random() < 0.5
        head, name = command.rsplit(" ", 1)
        shown = f"{head} {letters(random_, name)}" if is_defect else command
        # A text is told of a name once.
        if is_defect and (shown in known or shown in used):
            continue
        used.add(shown)
        form = random_.choice(forms).format(shown)
        path = random_.choice(texts)
        last = project.append(path, form)
        if last:
            yield path, (last - form.count("\n"), last), is_defect


def links(project, random_):
    """Links of the texts themselves that lead somewhere; half of them are broken."""
    found = []
    for path in project.texts:
        text = project.read(path)
        for match in re.finditer(r"\]\((\.{0,2}/?[A-Za-z0-9_][A-Za-z0-9_./-]*\.(?:md|py|ts|rs|json|js|tsx|yaml|sh))\)", text):
            full = os.path.normpath(os.path.join(os.path.dirname(path), match.group(1)))
            if full in project.files:
                found.append((path, match.group(1)))
    # And links to files beside the text, so that there are enough.
    for path in project.texts:
        directory = os.path.dirname(path)
        beside = [other for other in project.files if os.path.dirname(other) == directory and re.search(r"\.(md|py|ts|rs|json)$", other)]
        found += [(path, "+" + os.path.basename(other)) for other in random_.sample(beside, min(3, len(beside)))]
    random_.shuffle(found)
    used = set()
    for path, destination in found:
        if path in used:
            continue
        used.add(path)
        is_defect = random_.random() < 0.6
        name = destination.lstrip("+")
        directory, base = os.path.split(name)
        stem, ending = os.path.splitext(base)
        new = os.path.join(directory, letters(random_, stem) + "-gone" + ending) if is_defect else name
        if destination.startswith("+"):
            last = project.append(path, f"Read [the details]({new}) first.")
            if last:
                yield path, (last, last), is_defect
            continue
        text = project.read(path)
        if len(re.findall(re.escape(f"]({destination})"), text)) != 1:
            continue
        at = text.index(f"]({destination})")
        project.write(path, text.replace(f"]({destination})", f"]({new})"))
        line = text[:at].count("\n") + 1
        yield path, (line, line), is_defect


FIELDS = {"SKILL.md": ["name", "description"], ".mdc": ["description", "globs", "alwaysApply"], ".instructions.md": ["applyTo"],
          "rules": ["paths"], "agents": ["description", "tools", "model", "name"]}


def kind_of(path):
    for end in ("SKILL.md", ".mdc", ".instructions.md"):
        if path.endswith(end):
            return end
    if path.startswith(".claude/rules/"):
        return "rules"
    return "agents" if path.startswith(".claude/agents/") else None


def with_header(project, random_):
    """Texts with a header; where a repository has few, a rule is added for each client."""
    for path in project.texts:
        if project.read(path).startswith("---\n") and kind_of(path):
            yield path
    directories = sorted({path.split("/")[0] for path in project.files if "/" in path and not path.startswith(".")})
    ends = sorted({os.path.splitext(path)[1] for path in project.files if re.search(r"\.(py|ts|rs|go|js|tsx|md)$", path)})
    for number in range(12):
        if not directories or not ends:
            return
        pattern = f"{random_.choice(directories)}/**"
        name = f"mutation-{number}"
        kind = random_.choice([".mdc", ".instructions.md", "rules"])
        path = {".mdc": f".cursor/rules/{name}.mdc", ".instructions.md": f".github/instructions/{name}.instructions.md",
                "rules": f".claude/rules/{name}.md"}[kind]
        header = {".mdc": f"description: Rules for this part\nglobs: {pattern}\nalwaysApply: false",
                  ".instructions.md": f'applyTo: "{pattern}"', "rules": f'paths: "{pattern}"'}[kind]
        if any(file.startswith(pattern[:-2]) for file in project.files) and not project.is_ignored(path):
            project.write(path, f"---\n{header}\n---\nKeep functions of this part small.\n")
            yield path


def fields(project, random_):
    for path in list(with_header(project, random_)):
        text = project.read(path)
        header = text[4:text.find("\n---", 4)]
        known = [name for name in FIELDS[kind_of(path)] if re.search(rf"(?m)^{name}:", header)]
        if not known:
            continue
        name = random_.choice(known)
        is_defect = random_.random() < 0.6
        if is_defect:
            project.write(path, re.sub(rf"(?m)^{name}:", letters(random_, name) + ":", text, count=1))
        else:
            project.write(path, text.rstrip("\n") + "\n\nOne more sentence.\n")
        yield path, None, is_defect


def tools(project, random_):
    """Agents of Claude Code with a tool that it does not have."""
    if project.is_ignored(".claude/agents/x.md"):
        return
    real = ["Read", "Grep", "Glob", "Bash", "Edit", "Write", "WebFetch"]
    for number in range(15):
        is_defect = random_.random() < 0.6
        chosen = random_.sample(real, 3)
        if is_defect:
            place = random_.randrange(3)
            chosen[place] = letters(random_, chosen[place])
        path = f".claude/agents/mutation-{number}.md"
        text = f"---\nname: mutation-{number}\ndescription: Reviews a change of this project for mistakes\ntools: {', '.join(chosen)}\n---\nReview the change.\n"
        project.write(path, text)
        yield path, None, is_defect


def globs(project, random_):
    """Where most patterns are dead, the project is a collection for others: one dead pattern at a time among others."""
    dead = 0
    for path in list(with_header(project, random_)):
        text = project.read(path)
        match = re.search(r'(?m)^(globs|paths|applyTo): *"?([A-Za-z0-9_./-]+/\*\*)"?$', text)
        if not match:
            continue
        is_defect = dead < 2 and random_.random() < 0.6
        dead += is_defect
        if is_defect:
            pattern = match.group(2)
            head = pattern.split("/")[0]
            project.write(path, text.replace(pattern, pattern.replace(head, letters(random_, head) + "q", 1), 1))
        yield path, None, is_defect


MANAGERS = ["Use {} as the package manager.", "Always use `{}` for dependencies.", "We use {} in this repository.", "**Package manager**: {}",
            "Use `{}` to install packages.", "Install packages with `{}`."]
PAIRS = [
    # Each: ways to say one thing, ways to say the opposite.
    ([form.format("pnpm") for form in MANAGERS], [form.format("npm") for form in MANAGERS] + ["Never use pnpm.", "Do not use `pnpm`."]),
    ([form.format("uv") for form in MANAGERS], [form.format("poetry") for form in MANAGERS] + ["Never use uv."]),
    (["Use tabs for indentation.", "Indent with tabs.", "- Indentation: tabs"],
     ["Use 2 spaces for indentation.", "Indent with four spaces.", "- Indentation: 4 spaces", "Never use tabs."]),
    (["Use single quotes.", "Prefer single quotes.", "Use single quotes for strings."], ["Use double quotes for strings.", "Always use double quotes."]),
    (["Use snake_case for functions.", "Name functions in `snake_case`.", "Functions must be snake_case"],
     ["Use `camelCase` for functions.", "- Functions: camelCase", "Name functions in camelCase."]),
    (["Use kebab-case for files.", "File names use kebab-case."], ["Use PascalCase for files.", "- Files: `PascalCase`"]),
    (["Run tests with `pytest`.", "- Run tests: `pytest`"], ["Run the tests with `python -m unittest`.", "- Test: `python -m unittest`"]),
    (["Run tests with `npm test`.", "- Test: `npm test`"], ["Run tests with `pnpm test`.", "Run all tests with `yarn test`."]),
    (["Always add type annotations.", "Add type annotations."], ["Never add type annotations.", "Do not add type annotations."]),
    (["Use `lodash`.", "Always use `lodash`."], ["Never use `lodash`.", "Avoid `lodash`.", "Do not use `lodash` in this project."]),
    (["Maximum line length is 100.", "- Line length: 100 characters"], ["Keep lines under 80 characters.", "Line length: 120"]),
    (["Use semicolons.", "Always use semicolons."], ["Do not use semicolons.", "No semicolons."]),
]
AGREEING = [
    ("Use pnpm as the package manager.", "Never use npm."), ("Use pnpm.", "Use npm if the registry is down."),
    ("Use tabs for indentation.", "Use 2 spaces in YAML files."), ("Use snake_case for functions.", "Use PascalCase for classes."),
    ("Run tests with `pytest`.", "Run tests with `npm test`."), ("Never use `lodash`.", "Never use `moment`."),
    ("Use single quotes.", "Use double quotes when the string has an apostrophe."), ("Always add type annotations.", "Never add comments."),
    ("Use kebab-case for files.", "Use kebab-case for folders."), ("Use uv.", "Use `uv` instead of `pip`."),
]


def contradictions(project, random_):
    """Two rules of one client: for the same files (a defect), or that agree, or for other files (controls)."""
    if project.is_ignored(".cursor/rules/x.mdc"):
        return
    for number, pair in enumerate(random_.sample(PAIRS, len(PAIRS))):
        chance = random_.random()
        first, second = random_.choice(pair[0]), random_.choice(pair[1])
        scopes = ["**/*.demo%d" % number] * 2
        if chance < 0.25:
            first, second = random_.choice(AGREEING)
        elif chance < 0.5:
            scopes[1] = "**/*.other%d" % number
        for scope in set(scopes):
            project.write("mutations/a" + scope.removeprefix("**/*"), "x\n")
        paths = [f".cursor/rules/contradiction-{number}-{side}.mdc" for side in ("one", "two")]
        for path, said, scope in zip(paths, (first, second), scopes):
            project.write(path, f"---\ndescription: Demands of a part\nglobs: {scope}\nalwaysApply: false\n---\n# Conventions\n\n{said}\n")
        yield paths[1], None, chance >= 0.5


CLASSES = {"renamed target": targets, "broken link": links, "misspelled field": fields, "wrong tool": tools, "dead glob": globs,
           "contradicting pair": contradictions}
AT_ONCE = 12


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("repositories", nargs="+")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=60, help="stop after so long, with what there is")
    parser.add_argument("--show", action="store_true", help="print each miss and each false alarm")
    args = parser.parse_args()
    random_ = random.Random(args.seed)
    program = os.path.abspath(args.program)
    counts = {name: [0, 0, 0, 0] for name in CLASSES}  # planted, found, controls, false alarms
    with tempfile.TemporaryDirectory() as directory:
        projects = [Project(path, directory) for path in args.repositories]
        before = {project.name: findings(program, project.root) for project in projects}
        rounds = 0
        end = time.monotonic() + args.minutes * 60
        while sum(count[0] for count in counts.values()) < args.count and rounds < 60 and time.monotonic() < end:
            rounds += 1
            for project in projects:
                for name, mutate in CLASSES.items():
                    if counts[name][0] >= args.count // len(CLASSES) + 1 or time.monotonic() > end:
                        continue
                    planted = []
                    for one in mutate(project, random_):
                        planted.append(one)
                        if len(planted) == AT_ONCE:
                            break
                    if planted:
                        new = findings(program, project.root) - before[project.name]
                        judge(project, name, planted, before[project.name], new, counts[name], args.show)
                    project.restore()
            print(f"round {rounds}: {sum(count[0] for count in counts.values())} defects", file=sys.stderr)
    print(f"{'class':<20} {'defects':>8} {'found':>6} {'recall':>7} {'controls':>9} {'false':>6} {'precision':>10}")
    failed = False
    for name, (defects, found, controls, false) in counts.items():
        recall = found / defects if defects else 0
        precision = found / (found + false) if found else 0
        failed |= recall < 0.95 or precision < 0.95
        print(f"{name:<20} {defects:>8} {found:>6} {recall:>7.1%} {controls:>9} {false:>6} {precision:>10.1%}")
    return 1 if failed else 0


def judge(project, name, planted, before, new, count, show):
    texts = {path: project.read(path) for path, _, _ in planted}
    explained = set()
    for path, lines, is_defect in planted:
        here = [one for one in new if one[0] == path and (lines is None or lines[0] <= one[1] <= lines[1])]
        # The other half of a pair, and files that say the same, are one defect.
        explained.update(here)
        if name == "contradicting pair":
            other = path.replace("-two.", "-one.")
            here += [one for one in new if one[0] == other]
            explained.update(here)
        here = [one for one in here if one[2] not in ("guidance/too-many-instructions",)]
        if is_defect:
            count[0] += 1
            count[1] += bool(here)
            if not here and show:
                print(f"missed {name}: {project.name} {path} {lines} {shown(texts[path], lines)}", file=sys.stderr)
        else:
            count[2] += 1
            count[3] += bool(here)
            if here and show:
                print(f"false {name}: {project.name} {path} {shown(texts[path], lines)} {sorted(here)}", file=sys.stderr)
    # The example file in a message may be another one now.
    known = {one[:3] for one in before}
    rest = {one for one in new - explained if one[2] != "guidance/too-many-instructions" and one[:3] not in known}
    # A broken text may be named by others; a finding far from all that was planted is a false alarm.
    rest = {one for one in rest if not any(os.path.basename(path) in one[3] for path, _, _ in planted) and one[0] not in texts}
    count[3] += len(rest)
    for one in rest if show else ():
        print(f"false {name}: {project.name} {one}", file=sys.stderr)


def shown(text, lines):
    kept = text.split("\n")
    return repr("\n".join(kept[lines[0] - 1:lines[1]] if lines else kept[:10])[:300])


if __name__ == "__main__":
    sys.exit(main())
