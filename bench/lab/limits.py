"""What a client cannot do, as far as recorded requests show: the reason for a finding that `brief` cannot prevent."""

import re

ATTACHED = r"MARK-(part|rule)-.*"

# (client, sessions, kind, words, reason); all but the reason are patterns.
LIMITS = [
    (".*", "shell (reads|writes|patches)", "double", ATTACHED,
     "a command brought what the client attaches to its own tools, and its own tool attaches it once more"),
    ("gemini", "resume|compaction", "double", ".*", "a resumed conversation has the result of every earlier tool twice, with or without a hook"),
    ("gemini", "subagent", "double", "MARK-skill-.*", "the client lists skills twice in the first request of a subagent"),
    ("qwen", "resume", "double", "MARK-rule-.qwen.*", "the client attaches its rules again and keeps the earlier ones"),
    ("copilot", "resume", "lost", ATTACHED,
     "a resumed conversation has lost the files that the client attached by itself; they come back with the next read of the file"),
    ("cline", "prompt", "lost|late", ".*", "the client has no event for a prompt: guidance comes with the first tool"),
    ("droid", "prompt", "lost|late", ".*", "`droid exec` has no event for a prompt: guidance comes with the first tool"),
    ("cline", "hold", "late", ".*", "a call cannot be held back without ending the run"),
    ("droid", "resume", "double", ATTACHED, "a fork attaches nested files again and keeps the earlier ones"),
    ("gemini", "compaction", "lost", ".*",
     "no event says that the client compacted: `PreCompress` comes before every request, and the events of tools do not change; what was dropped comes back with a new session"),
    ("droid", "compaction", "lost", ".*",
     "`droid exec` runs no hook at a compaction, and the events of tools do not change; what was dropped comes back with a new session"),
    ("cline", "compaction", "lost", ".*",
     "the client runs no hook at a compaction, not even `PreCompact`, and the events of tools do not change; what was dropped comes back with a new session"),
    ("droid", "compaction", "double", ATTACHED, "after a compaction the client attaches nested files again and keeps the earlier ones"),
    ("claude|pi|qwen", "compaction", "double", "MARK-entry-edit-after",
     "the compaction came between the call and the next request, which has kept the text; it comes again with the next change"),
    (".*", "compaction", "late", "MARK-entry-edit-after",
     "the compaction came between the call and the next request, which has the text no more; it comes with the next change"),
]


def reason_for(name, shape, kind, mark, where):
    """Returns the reason for a finding, or None if there is none."""
    for clients, shapes, kinds, marks, reason in LIMITS:
        if all(re.fullmatch(pattern, text) for pattern, text in
               ((clients, name), (shapes, shape), (kinds, kind), (marks, mark))):
            return reason
    return None
