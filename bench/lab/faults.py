"""Sessions in which something else stands in the place of `brief`: the client has to do all of its work."""

import dataclasses

from .shapes import DISABLED, FAULTY, LONG_OUTPUT, Phase
from .table import CLIENTS
from .verdict import words_in

HOOK_WORDS = "MARK-entry-"  # only the hook brings these


def hooks_of(name):
    """Returns the clients whose hooks a client runs."""
    other = CLIENTS[name].get("runs_hooks_of")
    return [name, other] if other else [name]


def run_faults(lab, name, hook):
    """Returns a word for each fault: `works`, or what happened instead."""
    cells = {}
    for shape in [*FAULTY, DISABLED]:
        steps = shape.phases[0].steps
        if CLIENTS[name].get("takes_no_long_text"):
            steps = [*steps[:2], *LONG_OUTPUT]
        run = lab.run(name, dataclasses.replace(shape, phases=[Phase(steps)], hooks=lambda _: [[hook]]))
        works = all(run.ended) and run.is_done
        is_silent = not any(mark.startswith(HOOK_WORDS) for request in run.requests for mark in words_in(request))
        good = "silent" if shape is DISABLED and is_silent else "ANSWERS" if shape is DISABLED else "works"
        cells[shape.name] = good if works else f"STOPS {run.problem}".strip()
    return cells
