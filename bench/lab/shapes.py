"""The shapes of sessions: what a user does, and which of it the words of a shell show."""

import dataclasses
import json
import subprocess
import typing

from . import project as marked

SHOWN, HIDDEN, MAYBE = "shown", "hidden", "maybe"


def read(path):
    return {"do": "read", "name": f"read {path}", "path": path, "touches": [(path, "read", SHOWN)]}


def edit(path, old="x = 1", new="x = 3"):
    return {"do": "edit", "name": f"edit {path}", "path": path, "old": old, "new": new,
            "touches": [(path, "edit", SHOWN)], "checks": [(path, new)]}


def create(path, new="z = 1"):
    return {"do": "create", "name": f"create {path}", "path": path, "new": new, "touches": [(path, "create", SHOWN)],
            "checks": [(path, new)]}


def shell(command, *touches, checks=()):
    return {"do": "shell", "name": command.splitlines()[0], "command": command, "touches": list(touches), "checks": list(checks)}


def many(*steps):
    return {"name": " and ".join(step["name"] for step in steps), "many": list(steps)}


def agent(*steps):
    return {"do": "agent", "name": "subagent", "steps": list(steps)}


def linger(seconds=8):
    return {**shell(f"sleep {seconds}"), "name": "wait"}


@dataclasses.dataclass
class Phase:
    """One run of the client."""

    steps: list
    how: str = "new"  # or resume
    start: str = "."
    prompt: str = ""
    names: tuple = ()  # the files that the prompt names


@dataclasses.dataclass
class Shape:
    name: str
    phases: list
    about: str = ""
    hold: bool = False
    fault: str = ""
    env: dict = dataclasses.field(default_factory=dict)
    prepare: typing.Any = None
    hooks: typing.Any = None  # the arguments of each `brief hook install`
    fits: typing.Any = lambda _name, _client: True
    proof: typing.Any = lambda _run: True  # whether what the shape is about has happened

    def installs(self, name):
        if self.hooks is not None:
            return self.hooks(name)
        return [[name, *(["--block-once"] if self.hold else [])]]


A, B, LEDGER, PAGE, TOOL, JOB = marked.CODE


def plain(start="."):
    return Phase([read(A), edit(A), create("src/api/new.py"), read(LEDGER), edit(LEDGER)], start=start)


def unread():
    return Phase([edit(A), create("src/api/new.py")])


def shell_writes():
    return [
        shell("cat > web/ui/card.py <<'EOF'\nz = 1\nEOF", ("web/ui/card.py", "create", SHOWN), checks=[("web/ui/card.py", "z = 1")]),
        shell(f"sed -i 's/x = 1/x = 3/' {LEDGER}", (LEDGER, "edit", SHOWN), checks=[(LEDGER, "x = 3")]),
        shell("echo 'z = 1' | tee lib/made.py", ("lib/made.py", "create", SHOWN), checks=[("lib/made.py", "z = 1")]),
        shell(f"python3 - <<'EOF'\nfrom pathlib import Path\nfile = Path('{JOB}')\nfile.write_text(file.read_text().replace('x = 1', 'x = 3'))\nEOF",
              (JOB, "read", SHOWN), (JOB, "edit", SHOWN), checks=[(JOB, "x = 3")]),
    ]


def patch_of(path):
    return f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1,2 +1,2 @@\n-x = 1\n+x = 3\n y = 2\n"


def shell_patches():
    strip = f"--- {JOB}\n+++ {JOB}\n@@ -1,2 +1,2 @@\n-x = 1\n+x = 3\n y = 2\n"
    return [
        shell(f"git apply <<'EOF'\n{patch_of(PAGE)}EOF", (PAGE, "edit", SHOWN), checks=[(PAGE, "x = 3")]),
        shell(f"patch -p0 <<'EOF'\n{strip}EOF", (JOB, "edit", SHOWN), checks=[(JOB, "x = 3")]),
        # The text does not show the file: the guidance comes with the next call that does.
        shell("f=services/billing; f=$f/ledger.py; sed -i 's/x = 1/x = 3/' $f", (LEDGER, "edit", HIDDEN), checks=[(LEDGER, "x = 3")]),
        edit(LEDGER, "y = 2", "y = 4"),
    ]


def patch_step():
    """Returns three files in one patch, for clients with a tool for that."""
    body = "".join(f"*** Update File: {path}\n@@\n-x = 1\n+x = 3\n" for path in (A, LEDGER, PAGE))
    return {"do": "patch", "name": "patch of three files", "patch": body, "touches": [(path, "edit", SHOWN) for path in (A, LEDGER, PAGE)],
            "checks": [(path, "x = 3") for path in (A, LEDGER, PAGE)]}


def shell_patch_of_three():
    return shell("git apply <<'EOF'\n" + "".join(patch_of(path) for path in (A, LEDGER, PAGE)) + "EOF",
                 *[(path, "edit", SHOWN) for path in (A, LEDGER, PAGE)], checks=[(path, "x = 3") for path in (A, LEDGER, PAGE)])


# Clients that run the hook of the main checkout in its worktrees.
RUNS_MAIN_HOOKS = ("claude", "codex")


def make_worktree(session):
    marked.commit(session.project)
    root = session.scratch / "worktree"
    subprocess.run(["git", "-C", str(session.project), "worktree", "add", "-q", str(root)], check=True)
    session.result.marks |= marked.marks_of(root)
    if session.name in RUNS_MAIN_HOOKS:
        session.brief(["hook", "install", session.name], session.project)
        # Without it Codex runs no hook of a project there.
        (root / f".{session.name}").mkdir(exist_ok=True)
    return root


def make_outside(session):
    outside = session.scratch / "outside.py"
    outside.write_text("x = 1\n")
    return session.project


def outside_read():
    return {"do": "read", "name": "read ../outside.py", "path": "../outside.py", "touches": []}


def outside_edit():
    return {"do": "edit", "name": "edit ../outside.py", "path": "../outside.py", "old": "x = 1", "new": "x = 3", "touches": []}


def two_hooks(name):
    if name == "copilot":
        return [["claude"], ["copilot"], ["copilot", "--project"]]
    return [[name, "--project"], [name, "--global"]] if name != "kilo" else [[name], ["claude"], ["opencode"]]


def other_hooks(name):
    return [[other] for other in dict.fromkeys(["claude", "gemini", name])]


# More than a pipe holds. A client that takes no such text prints it with a command.
LONG = "z = 1  # " + "a" * 150_000
LONG_OUTPUT = [create("src/api/new.py"), shell("head -c 150000 /dev/zero | tr '\\0' a")]


def outputs(count):
    """Returns commands that print more than a client takes. No two are equal, which a client may take for a loop."""
    return [shell(f"head -c {150_000 + number} /dev/zero | tr '\\0' a") for number in range(count)]


def has_summary(run):
    """Returns whether the client asked for a summary of the conversation, and went on with it."""
    is_asked = lambda request: any(word in json.dumps(request["body"]).lower() for word in ("summar", "state_snapshot"))
    places = [place for place, request in enumerate(run.requests) if request["side"] and is_asked(request)]
    return bool(places) and places[0] < len(run.requests) - 1


def resumed(*steps):
    return Phase(list(steps), how="resume")


SHAPES = [
    Shape("root", [plain()]),
    Shape("from src", [plain("src")], fits=lambda _, client: not client.get("stays_below_start")),
    Shape("from src", [Phase(plain().steps[:3], start="src")], fits=lambda _, client: client.get("stays_below_start")),
    Shape("prompt", [Phase([edit(A)], prompt=f"please change {A} and {LEDGER}", names=(A, LEDGER))], "the prompt names two files"),
    Shape("shell writes", [Phase(shell_writes())]),
    Shape("shell patches", [Phase(shell_patches())]),
    Shape("shell reads", [Phase([shell(f"cat {LEDGER}", (LEDGER, "read", SHOWN)), edit(LEDGER), read(LEDGER)])]),
    Shape("resume", [Phase([read(A), edit(A)]), resumed(read(A), edit(A, "y = 2", "y = 4")), resumed(read(LEDGER), edit(LEDGER))],
          fits=lambda _, client: "resume" in client),
    Shape("second session", [Phase([read(A), edit(A)]), Phase([read(A), edit(A, "y = 2", "y = 4")])]),
    Shape("nested start", [Phase([read(LEDGER), edit(LEDGER)], start="services/billing")]),
    Shape("start elsewhere", [Phase([read(LEDGER), edit(LEDGER)], start="web")]),
    Shape("worktree", [plain()], prepare=make_worktree, hooks=lambda name: [] if name in RUNS_MAIN_HOOKS else [[name]]),
    Shape("file outside", [Phase([outside_read(), outside_edit(), read(A), edit(A)])], prepare=make_outside),
    Shape("several files", [Phase([patch_step()])], fits=lambda _, client: "patch" in client["tools"]),
    Shape("several files", [Phase([shell_patch_of_three()])], fits=lambda _, client: "patch" not in client["tools"]),
    Shape("two calls", [Phase([many(read(A), read(LEDGER)), many(edit(A), edit(LEDGER))])]),
    Shape("subagent", [Phase([read(A), agent(read(A), edit(A), read(LEDGER)), linger(), read(B)])], fits=lambda _, client: "agent" in client["tools"]),
    Shape("two hooks", [plain()], hooks=two_hooks),
    Shape("other hooks", [plain()], "the hooks of Claude Code and Gemini CLI beside its own", hooks=other_hooks),
    Shape("compaction", [Phase([read(A), {**edit(A), "tokens": 190_000}, read(LEDGER), edit(LEDGER), read(A)])], proof=has_summary,
          fits=lambda _, client: not client.get("compacts_at_prompts") and not client.get("compacts_by_length")),
    Shape("compaction", [Phase([read(A), *outputs(10), {**edit(A), "tokens": 190_000}, read(LEDGER), edit(LEDGER), read(A)])], proof=has_summary,
          fits=lambda _, client: client.get("compacts_by_length")),
    Shape("compaction", [Phase([read(A), edit(A)]), resumed({**read(LEDGER), "tokens": 190_000}, edit(LEDGER), read(A))], proof=has_summary,
          fits=lambda _, client: client.get("compacts_at_prompts")),
    Shape("failed calls", [Phase([
        {**read("src/api/none.py"), "touches": [("src/api/none.py", "read", MAYBE)]},
        {**edit(A, "not there", "x"), "touches": [(A, "edit", MAYBE)], "checks": []},
        read(A), edit(A)])]),
    Shape("hold", [unread()], hold=True),
]
# For the table of the prompt cache: what a client does by itself.
ALONE = Shape("without a hook", [plain()], hooks=lambda _: [])
FAULTY = [Shape(fault, [Phase([read(A), edit(A), create("src/api/new.py", LONG)])], fault=fault)
          for fault in ("missing", "killed", "exit 2", "hangs", "noise", "null")]
DISABLED = Shape("disabled", FAULTY[0].phases, env={"BRIEF_DISABLE": "1"})
