"""Installs clients, and runs one session of one of them: a project, a hook, and one or several runs of the client."""

import json
import os
import pathlib
import pty
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid

from . import project as marked
from .joins import join
from .model import SUBTASK, Model, Script, Step
from .shapes import read
from .table import CLIENTS, NODE, filled

# What stands in for `brief` once the hook is set up: the lines of a shell, or None for nothing.
FAULTS = {
    "missing": None,
    "killed": "kill -9 $$",
    "exit 2": "echo broken >&2; exit 2",
    "hangs": "exec sleep 1000",
    "noise": "echo 'not JSON {'",
    "null": "echo null",
}
PROMPT = "please change it"
LIMIT = 600  # seconds for one run of a client on a busy machine


class SessionRun:
    """What a session left: its requests, its steps, and the words of its files."""

    def __init__(self):
        self.requests, self.steps, self.answers, self.marks = [], [], {}, {}
        self.receipts, self.ended, self.problem = [], [], ""
        self.joins = {}
        self.is_done = False  # whether every step had its effect; its files are gone afterwards
        self.prompted = {}  # run -> the files that its prompt names, with their words


class Lab:
    """The installed clients and the program."""

    def __init__(self, into, brief, keep=None):
        self.into, self.brief, self.keep = into, brief, keep

    def path(self, name, in_place=None):
        node = f"{self.into}/node/node_modules/node/bin:" if CLIENTS[name].get("node") else ""
        program = in_place or self.brief.parent
        return f"{program}:{self.into}/{name}/node_modules/.bin:{node}{os.environ['PATH']}"

    def run(self, name, shape):
        """Runs a session of a shape. Everything that is not kept is removed."""
        with tempfile.TemporaryDirectory(prefix="lab-", ignore_cleanup_errors=True) as scratch:
            scratch = pathlib.Path(scratch).resolve()
            run = Session(self, name, shape, scratch).run()
            if self.keep:
                self.save(name, shape, scratch, run)
            return run

    def save(self, name, shape, scratch, run):
        to = self.keep / name / shape.name.replace(" ", "-")
        shutil.rmtree(to, ignore_errors=True)
        to.mkdir(parents=True)
        (to / "requests.json").write_text(json.dumps(run.requests, indent=1, ensure_ascii=False))
        asked = [{"step": step.name, "asked": step.asked, "done": step.is_done()} for step in run.steps]
        (to / "steps.json").write_text(json.dumps(asked, indent=1))
        (to / "receipts.json").write_text(json.dumps(run.receipts, indent=1))
        for file in scratch.glob("client-*.out"):
            shutil.copy(file, to)


class Session:
    def __init__(self, lab, name, shape, scratch):
        self.lab, self.name, self.shape, self.scratch = lab, name, shape, scratch
        self.client = CLIENTS[name]
        self.project, self.home = scratch / "project", scratch / "home"
        self.run_word = uuid.uuid4().hex
        self.result = SessionRun()
        self.environment = {"PATH": lab.path(name), "HOME": str(self.home), "LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1",
                            "CLIENTS_RUN": self.run_word,
                            # The machine may be busy: a hook that gives up says nothing about the client.
                            "BRIEF_HOOK_DEADLINE": "4000"}

    def run(self):
        self.project.mkdir(), self.home.mkdir()
        marked.lay_out(self.project, self.home)
        self.result.marks = marked.marks_of(self.project, self.home)
        self.root = self.shape.prepare(self) if self.shape.prepare else self.project
        self.set_up_hooks()
        with Model() as model:
            self.words = {"root": model.root, "url": f"{model.root}/v1", "project": str(self.root), "main": str(self.project),
                          "free": free_port(), "prompt": PROMPT}
            self.add_settings()
            for part in self.parts():
                self.environment.update(filled(part.get("env", {}), self.words))
            for number, phase in enumerate(self.shape.phases):
                self.play(model, number, phase)
        end_daemons(self.run_word)
        self.result.is_done = all(step.is_done() for step in self.result.steps)
        self.result.receipts = self.read_receipts()
        self.result.joins = join(self.name, self.client, self.home, self.result.receipts)
        return self.result

    # The hook

    def set_up_hooks(self):
        for arguments in self.shape.installs(self.name):
            done = self.brief(["hook", "install", *arguments], self.root)
            if done.returncode != 0:
                raise SystemExit(f"{self.name}: hook install {' '.join(arguments)}: {done.stderr}")
        if self.shape.fault:
            stand_in = self.scratch / "bin"
            stand_in.mkdir()
            if FAULTS[self.shape.fault]:
                (stand_in / "brief").write_text(f"#!/bin/sh\n{FAULTS[self.shape.fault]}\n")
                (stand_in / "brief").chmod(0o755)
            self.environment["PATH"] = self.lab.path(self.name, stand_in)
        self.environment.update(self.shape.env)

    def brief(self, arguments, directory):
        # In place of the lab's directory of the real program another may be on PATH.
        environment = {**self.environment, "PATH": self.lab.path(self.name)}
        return subprocess.run([str(self.lab.brief), *arguments], cwd=directory, env=environment, capture_output=True, text=True)

    def ask(self, start, path, action, when="all"):
        """Returns what `brief context` says for a moment: the words that the model gets, each `delivered` or `loaded`."""
        key = (start, path, action, when)
        if key not in self.result.answers:
            near = os.path.relpath(self.root / path, self.root / start)
            asked = ["context", near, "--client", self.name, "--on", action, "--when", when, "--json"]
            done = self.brief(asked, self.root / start)
            self.result.answers[key] = self.promised(done)
        return self.result.answers[key]

    def promised(self, done):
        if done.returncode != 0:
            raise SystemExit(f"{self.name}: brief context: {done.stderr}")
        answer = json.loads(done.stdout)
        promised = {}
        by_file = lambda item: self.result.marks.get(str(pathlib.Path(item["source"]["path"]).resolve()), [])
        for item in answer["items"]:
            if item["state"] in ("active", "listed"):
                words = marked.MARK.findall((item.get("content") or "") if item["state"] == "active" else item["description"])
                promised.update(dict.fromkeys(words or by_file(item)[:1], "delivered"))
        for item in answer["skipped"]:
            if " by itself" in item["reason"] or "lists it" in item["reason"]:
                promised.update({word: "loaded" for word in by_file(item)[:1] if word not in promised})
        return promised

    # The client

    def parts(self):
        """Returns what the lab knows of the client, for all sessions and for this shape."""
        return [self.client, self.client.get("in", {}).get(self.shape.name, {})]

    def add_settings(self):
        for part in self.parts():
            for file, value in filled(part.get("settings", {}), self.words).items():
                target = self.home / file
                target.parent.mkdir(parents=True, exist_ok=True)
                old = json.loads(target.read_text()) if target.exists() else {}
                target.write_text(json.dumps(merged(old, value)))

    def play(self, model, number, phase):
        steps = {"main": [], "sub": []}
        for do in self.with_reads(phase.steps):
            self.add_step(steps, "main", do, phase)
        script = Script(number, steps)
        self.result.prompted[number] = [(path, self.ask(phase.start, path, "read", "before")) for path in phase.names]
        self.result.steps += steps["main"] + steps["sub"]
        model.play(script)
        # `{prompt}` is in a shape's own prompt.
        words = {**self.words, "prompt": phase.prompt or PROMPT}
        commands = [self.client.get("before") if number == 0 else None, self.client["resume" if phase.how == "resume" else "run"]]
        status = None
        in_terminal = phase.how == "resume" and self.client.get("resumes_in_terminal")
        for command in filter(None, commands):
            if phase.how == "resume" and "sessions" in self.client:
                words["session"] = newest(self.home, self.client["sessions"])
            if in_terminal:
                status = self.type_into(filled(command, words), self.root / phase.start, number, words["prompt"], script)
            else:
                status = self.call(filled(command, words), self.root / phase.start, number)
        self.result.ended.append(status == 0 and script.has_ended())
        self.result.requests += script.requests
        end_daemons(self.run_word)

    def with_reads(self, steps):
        """Returns the steps with a read before each change of a file that was not read, for a client that asks for it."""
        if not self.client.get("edits_after_read"):
            return steps
        found, known = [], set()
        for step in steps:
            touches = [touch for one in step.get("many", [step]) for touch in one.get("touches", [])]
            own = {one.get("path") for one in step.get("many", [step]) if one["do"] == "read"}
            changed = [path for path, action, _ in touches if action == "edit" and path not in known | own]
            found += [read(path) for path in dict.fromkeys(changed)]
            known.update(changed, own, [path for path, action, _ in touches if action == "create"])
            found.append(step)
        return found

    def call(self, command, directory, number):
        # A daemon that stays behind may hold the output open, so that it goes to a file.
        with open(self.scratch / f"client-{number}.out", "ab") as out:
            try:
                return subprocess.run(command, cwd=directory, env=self.environment, timeout=LIMIT, stdin=subprocess.DEVNULL,
                                      stdout=out, stderr=subprocess.STDOUT).returncode
            except subprocess.TimeoutExpired:
                self.result.problem = f"not ended after {LIMIT} s"
                return None

    def type_into(self, command, directory, number, prompt, script):
        """Runs a client that goes on in a terminal only: types the prompt there, and ends the client when it has done its steps."""
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(directory)
            os.execvpe(command[0], command, {**self.environment, "TERM": "xterm"})
        begun = time.monotonic()
        typed, shown, status = 0, b"", None
        with open(self.scratch / f"client-{number}.out", "ab") as out:
            while time.monotonic() - begun < LIMIT:
                try:
                    if select.select([terminal], [], [], 1)[0]:
                        new = os.read(terminal, 65536)
                        shown, _ = shown + new, out.write(new)
                        continue
                except OSError:
                    break  # the client has ended
                # It is quiet: it waits for the prompt, then for the key that sends it, or it is done.
                if typed < 2 and shown and not script.requests:
                    os.write(terminal, prompt.encode() if typed == 0 else b"\r")
                    typed += 1
                elif script.has_ended() and script.is_idle():
                    status = 0
                    break
            else:
                self.result.problem = f"not ended after {LIMIT} s"
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(terminal)
        return status

    def add_step(self, steps, conversation, do, phase):
        """Adds an action in the client's own tools. An action that the client has no tool for makes the session void."""
        actions = do["many"] if "many" in do else [do]
        calls, moments, checks = [], [], []
        for action in actions:
            if action["do"] == "agent":
                for inner in action["steps"]:
                    self.add_step(steps, "sub", inner, phase)
            tool, given = self.client["tools"][action["do"]]
            words = {"task": f"{SUBTASK}: please change it", "near": "", **action}
            if "path" in action:
                path = (self.root / action["path"]).resolve()
                words |= {"path": str(path), "near": os.path.relpath(path, self.root / phase.start)}
            calls.append((tool, filled(given, {key: value for key, value in words.items() if isinstance(value, str)})))
            for path, what, kind in action.get("touches", []):
                before = self.ask(phase.start, path, what, "before") if self.shape.hold else {}
                moments.append((path, what, kind, self.ask(phase.start, path, what), before))
            checks += action.get("checks", [])
        is_done = lambda: all(self.has(path, text) for path, text in checks)
        steps[conversation].append(Step(do["name"], calls, is_done, moments, do.get("tokens", 9)))

    def has(self, path, text):
        file = self.root / path
        return file.exists() and text in file.read_text(errors="replace")

    def read_receipts(self):
        done = self.brief(["log", "--json"], self.root)
        try:
            return json.loads(done.stdout)["receipts"]
        except ValueError:
            return []


def newest(home, pattern):
    """Returns the id of the latest session: the name of its file."""
    files = sorted(home.glob(pattern), key=lambda file: file.stat().st_mtime)
    return files[-1].name.split(".")[0] if files else ""


def merged(old, new):
    if isinstance(old, dict) and isinstance(new, dict):
        return {**old, **{key: merged(old.get(key), value) for key, value in new.items()}}
    return new


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return str(free.getsockname()[1])


def end_daemons(word):
    """Ends what a client left behind: processes with this run's own word in their environment."""
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if f"CLIENTS_RUN={word}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                os.kill(int(entry.name), signal.SIGKILL)
        except OSError:
            pass


def install(name, into):
    """Installs a client in a prefix of its own, if another version is there. Returns the problem."""
    packages = {"node": f"node@{NODE}"} if CLIENTS[name].get("node") else {}
    packages[name] = CLIENTS[name]["package"]
    for prefix, package in packages.items():
        directory = into / prefix
        module, wanted = package.rsplit("@", 1)
        installed = directory / "node_modules" / module / "package.json"
        if installed.exists() and json.loads(installed.read_text()).get("version") == wanted:
            continue
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "package.json").write_text('{"private": true}\n')
        path = f"{into}/node/node_modules/node/bin:{os.environ['PATH']}"
        npm = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", package]
        done = subprocess.run(npm, cwd=directory, env={**os.environ, "PATH": path}, capture_output=True, text=True)
        if done.returncode != 0:
            said = [line for line in done.stderr.splitlines() if " " in line and "complete log" not in line]
            return next((line for line in said if "No matching version" in line), said[-1] if said else "npm failed")
    return None
