"""The prompt cache: which bytes of a request are those of the request before, and where a client sets breakpoints.

A service can reuse what two successive requests have in common at their beginning: the tools, the system prompt, and the messages.
What a delivery changes before the last message is lost for that.
"""

import collections
import json


def parts(body):
    """Returns a request as a list of named texts, in the order in which services cache them."""
    found = [("tools", json.dumps(body.get("tools"), sort_keys=True, ensure_ascii=False))]
    system = body.get("system") or body.get("systemInstruction") or body.get("instructions")
    if system:
        found.append(("system", clean(system)))
    turns = body.get("messages") or body.get("input") or body.get("contents") or []
    found += [(f"{turn.get('role') or turn.get('type')}", clean(turn)) for turn in turns]
    return found


def clean(value):
    """Returns a value as text, without its breakpoints: they are no part of what is compared."""
    if isinstance(value, dict):
        value = {key: without_breakpoints(item) for key, item in value.items() if key != "cache_control"}
    else:
        value = without_breakpoints(value)
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def without_breakpoints(value):
    if isinstance(value, dict):
        return {key: without_breakpoints(item) for key, item in value.items() if key != "cache_control"}
    if isinstance(value, list):
        # A breakpoint makes a list of one part of what is a text otherwise.
        is_text = len(value) == 1 and isinstance(value[0], dict) and value[0].get("type") == "text"
        return value[0]["text"] if is_text else [without_breakpoints(item) for item in value]
    return value


def breakpoints(body):
    """Returns the places with a breakpoint, from the end: 0 is the last message."""
    found = []
    if "cache_control" in json.dumps(body.get("tools") or []):
        found.append("tools")
    if "cache_control" in json.dumps(body.get("system") or []):
        found.append("system")
    turns = body.get("messages") or body.get("input") or body.get("contents") or []
    for index, turn in enumerate(turns):
        if "cache_control" in json.dumps(turn):
            found.append(f"message {index - len(turns)}")
    if body.get("prompt_cache_key"):
        found.append("`prompt_cache_key`")
    return found


def changes(requests):
    """Returns, for each pair of successive requests of one conversation, the first part that differs and the bytes after it."""
    found = []
    for before, after in zip(requests, requests[1:]):
        old, new = parts(before), parts(after)
        same = 0
        while same < min(len(old), len(new)) and old[same] == new[same]:
            same += 1
        # What the earlier request had and the later one has no more at this place.
        lost = sum(len(text.encode()) for _, text in old[same:])
        whole = sum(len(text.encode()) for _, text in old)
        where = old[same][0] if same < len(old) else None
        found.append({"kept": whole - lost, "lost": lost, "where": where, "place": same, "parts": len(old)})
    return found


def measure(run):
    """Returns what a session says about the cache."""
    conversation = [request["body"] for request in run.requests if not request["side"] and request["conversation"] == "main"]
    pairs = changes(conversation)
    where = collections.Counter(pair["where"] for pair in pairs if pair["lost"])
    return {
        "requests": len(conversation), "whole": sum(pair["lost"] == 0 for pair in pairs), "pairs": len(pairs),
        "lost": sum(pair["lost"] for pair in pairs), "kept": sum(pair["kept"] for pair in pairs), "where": dict(where),
        "breakpoints": breakpoints(conversation[-1]) if conversation else [], "list": pairs,
    }
