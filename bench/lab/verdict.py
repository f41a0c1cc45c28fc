"""Compares what `brief context` says with the recorded requests: lost, twice, late, and unexpected."""

import collections
import dataclasses
import json

from .project import MARK
from .shapes import HIDDEN, MAYBE
from .table import CLIENTS


@dataclasses.dataclass
class Verdict:
    promised: int = 0
    reached: int = 0
    findings: list = dataclasses.field(default_factory=list)  # (kind, mark, conversation, text)
    worked: bool = True

    def count(self, kind):
        return sum(found[0] == kind for found in self.findings)


def texts(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts(item)


def words_in(request):
    """Returns how often each word is in a request."""
    return collections.Counter(mark for text in texts(request["body"]) for mark in MARK.findall(text))


def judge(name, shape, run):
    """Returns the verdict on a session."""
    verdict = Verdict(worked=all(run.ended))
    conversations = Conversations(run, shape)
    for key in conversations.keys:
        judge_conversation(name, shape, conversations, key, verdict)
    return verdict


class Conversations:
    """The requests of a session by conversation. A run that resumes goes on with the one before."""

    def __init__(self, run, shape):
        self.run, self.requests, self.keys = run, collections.defaultdict(list), []
        number, self.of_phase = -1, {}
        for index, phase in enumerate(shape.phases):
            number += phase.how == "new"
            self.of_phase[index] = number
        self.place = {}  # (phase, index in the phase) -> place in the conversation
        counts = collections.Counter()
        for request in run.requests:
            phase = request["phase"]
            index = counts[phase]
            counts[phase] += 1
            if request["side"]:
                continue
            key = (self.of_phase[phase], request["conversation"])
            self.place[phase, index] = len(self.requests[key])
            self.requests[key].append((request, words_in(request)))
        self.keys = sorted(self.requests)

    def steps(self, key):
        for step in self.run.steps:
            asked = [(phase, index) for phase, conversation, index in step.asked if (self.of_phase[phase], conversation) == key]
            if asked:
                yield step, [self.place[phase, index] for phase, index in asked]

    def ends(self, key):
        """Returns the place of the last request of each run."""
        last = {}
        for place, (request, _) in enumerate(self.requests[key]):
            last[request["phase"]] = place
        return sorted(last.values())


def judge_conversation(name, shape, conversations, key, verdict):
    due, allowed = due_places(conversations, key, shape)
    requests = conversations.requests[key]
    skills_by_name = CLIENTS[name].get("lists_skills_by_name")
    seen = {}
    for place, (_, words) in enumerate(requests):
        for mark in words:
            seen.setdefault(mark, place)
    if skills_by_name:
        known = json.dumps([request["body"].get("tools") for request, _ in requests[:1]])
        due = {mark: place for mark, place in due.items() if not (mark.startswith("MARK-skill-") and mark[11:].replace("_", "-") in known)}
    where = "" if key[1] == "main" else "the subagent: "
    verdict.promised += len(due)
    for mark, (place, step) in sorted(due.items()):
        gone = [end for end in conversations.ends(key) if end > place and not requests[end][1][mark]]
        if mark not in seen:
            verdict.findings.append(("lost", mark, where, f"in none of {len(requests)} requests; promised for “{step}”"))
        elif gone:
            verdict.findings.append(("lost", mark, where, f"in request {seen[mark] + 1}, no longer in request {gone[0] + 1} of {len(requests)}"))
        else:
            verdict.reached += 1
            if seen[mark] > place + 1:
                verdict.findings.append(("late", mark, where, f"in request {seen[mark] + 1}, due in request {place + 2} after “{step}”"))
    for mark in sorted(seen):
        most, at = max((words[mark], -place) for place, (_, words) in enumerate(requests))
        if mark not in allowed:
            verdict.findings.append(("unexpected", mark, where, f"in request {seen[mark] + 1}"))
        elif most > 1:
            verdict.findings.append(("double", mark, where, f"{most} times in request {1 - at} of {len(requests)}"))


def due_places(conversations, key, shape):
    """Returns, for each word, the place of the request that it has to follow, and the words that may come."""
    due, allowed, hidden = {}, set(), collections.defaultdict(dict)
    if key[1] == "main":
        for phase, named in conversations.run.prompted.items():
            for path, promised in named if conversations.of_phase[phase] == key[0] else ():
                allowed.update(promised)
                due.update({mark: (-1, f"the prompt names {path}") for mark, how in promised.items() if how == "delivered"})
    for step, places in conversations.steps(key):
        for path, action, kind, promised, before in step.moments:
            allowed.update(promised)
            if kind == MAYBE:
                continue
            if kind == HIDDEN:
                hidden[path].update(promised)
                continue
            for mark in [*promised, *hidden.pop(path, {})]:
                # A call that is held back brings its guidance before it is made again.
                is_held = action != "read" and before.get(mark) == "delivered"
                due.setdefault(mark, (places[-1] - 1 if is_held else places[-1], step.name))
    return due, allowed
