"""Joins receipts with the client's own transcripts: by the id of the call, or by what the payload has instead."""

import json
import pathlib
import sqlite3


def records(home, patterns):
    """Returns the records of each transcript: the lines of a file, or the rows of a database."""
    found = {}
    for pattern in patterns:
        for file in sorted(home.glob(pattern)):
            if file.is_file():
                found[file] = rows(file) if file.suffix == ".db" else lines(file)
    return found


def lines(file):
    """Returns the lines of a file, or the messages of one that is rewritten as a whole."""
    text = file.read_text(errors="replace")
    if file.suffix != ".json":
        return text.splitlines()
    try:
        whole = json.loads(text)
    except ValueError:
        return [text]
    messages = whole.get("messages") if isinstance(whole, dict) else whole
    return [json.dumps(message) for message in messages] if isinstance(messages, list) else [text]


def rows(file):
    """Returns the rows of all tables as text. Rows that are not in the main file yet are read, too."""
    found = []
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
        tables = [name for (name,) in database.execute("select name from sqlite_master where type = 'table'")]
        for table in tables:
            try:
                found += [" ".join(str(value) for value in row) for row in database.execute(f'select * from "{table}"')]
            except sqlite3.Error:
                continue  # a virtual table of an extension that is not here
    return found


def join(name, client, home, receipts):
    """Returns how each delivery to a client was found, counted, and the reasons for what was not found by a call."""
    counts = {"deliveries": 0, "call": 0, "conversation": 0, "without": 0, "lost": 0}
    reasons = set()
    transcripts = records(home, client.get("transcripts", []))
    for receipt in receipts:
        if receipt["client"] != name or not receipt["items"]:
            continue
        counts["deliveries"] += 1
        ids = {receipt["root_session"], receipt["session"], receipt["agent"]} - {None}
        own = [lines for file, lines in transcripts.items() if any(known in str(file) or any(known in line for line in lines) for known in ids)]
        files = {pathlib.Path(item["file"]).name for item in receipt["items"] if item.get("file")}
        if receipt["call"]:
            of_call = [line for lines in own for line in lines if receipt["call"] in line]
            is_right = not files or any(file in line for line in of_call for file in files)
            counts["call" if of_call and is_right else "lost"] += 1
            if not of_call or not is_right:
                reasons.add(f"no record has the call `{receipt['event']}` names")
        elif receipt["step"] == "after-call":
            has_file = any(file in line for lines in own for line in lines for file in files)
            counts["without" if has_file or own and not files else "lost"] += 1
            reasons.add(receipt["missing"]["call"])
        else:
            counts["conversation" if own else "lost"] += 1
            if not own:
                reasons.add(f"{name} keeps no record of a session in which it makes a title (`title-…`)" if is_title(receipt) else
                            f"no transcript names the session of `{receipt['event']}`")
    return {**counts, "reasons": sorted(reasons)}


def is_title(receipt):
    """Returns whether a receipt is of a session that a client begins for the title of another one."""
    return receipt["session"].startswith("title-")
