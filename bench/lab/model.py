"""A scripted model on this machine. It records every request before it answers.

It speaks Anthropic Messages, OpenAI Responses, OpenAI Chat Completions and Gemini's generateContent. A request with tools
takes the next step of its conversation; one without (a title, a summary) gets a text and takes none.
"""

import gzip
import http.server
import json
import threading
import time
import uuid

# A word in the task of a subagent: a conversation that begins with it is not the main one.
SUBTASK = "LAB-SUBTASK"
# The words of requests for a summary that offer tools all the same.
SUMMARIES = ("create a detailed summary", "CONTEXT CHECKPOINT COMPACTION", "Provide a detailed prompt for continuing")
SUMMARY = "<analysis>a</analysis><summary>The work goes on.</summary><state_snapshot>The work goes on.</state_snapshot>"


class Step:
    """One answer of the model: calls of tools, or a text. `is_done` tells whether the calls had their effect."""

    def __init__(self, name, calls, is_done=lambda: True, moments=(), tokens=9):
        self.name, self.calls, self.is_done, self.moments, self.tokens = name, calls, is_done, moments, tokens
        self.asked = []  # (phase, conversation, number of the request in it)


class Script:
    """The steps of all conversations of one run of a client. A change that did not happen is asked for once more."""

    def __init__(self, phase, steps):
        self.phase, self.steps = phase, steps  # conversation -> steps
        self.place, self.lock = {}, threading.Lock()
        self.latest = time.monotonic()
        self.requests = []

    def answer(self, body):
        """Records a request; returns the step, or None for a text."""
        with self.lock:
            self.latest = time.monotonic()
            conversation, is_side = conversation_of(body)
            request = {"phase": self.phase, "conversation": conversation, "side": is_side, "body": body, "step": None}
            self.requests.append(request)
            if is_side:
                return None
            steps = self.steps.get(conversation, [])
            at, tries = self.place.get(conversation, (0, 0))
            while at < len(steps):
                step = steps[at]
                if tries and (step.is_done() or tries > 1):
                    at, tries = at + 1, 0
                    continue
                self.place[conversation] = (at, tries + 1)
                step.asked.append((self.phase, conversation, len(self.requests) - 1))
                request["step"] = step.name
                return step
            self.place[conversation] = (at, tries)
            return None

    def most_tokens(self):
        """Returns the tokens of the longest answer so far."""
        return max((step.tokens for steps in self.steps.values() for step in steps if step.asked), default=9)

    def is_idle(self):
        """Returns whether no request has come for some seconds."""
        return time.monotonic() - self.latest > 3

    def has_ended(self):
        """Returns whether every step was asked for, and done."""
        return all(self.place.get(name, (0, 0))[0] >= len(steps) for name, steps in self.steps.items() if name == "main" or steps)


def turns(body):
    return body.get("messages") or body.get("input") or body.get("contents") or []


def said(turn):
    """Returns the texts that a user says in a turn, without results of tools."""
    if not isinstance(turn, dict) or turn.get("role") != "user":
        return ""
    content = turn.get("content") or turn.get("parts") or ""
    if isinstance(content, str):
        return content
    return " ".join(part.get("text") or "" for part in content if isinstance(part, dict) and "text" in part)


def conversation_of(body):
    """Returns the name of a request's conversation, and whether it is beside all conversations."""
    words = [said(turn) for turn in turns(body)]
    words = [text for text in words if text]
    looked_at = words if "input" in body else words[:2]
    tasks = [json.dumps(turn) for turn in turns(body) if isinstance(turn, dict) and turn.get("type") == "agent_message"]
    conversation = "sub" if any(SUBTASK in text for text in [*looked_at, *tasks]) else "main"
    last = json.dumps(turns(body)[-2:])
    is_side = not body.get("tools") or any(text in last for text in SUMMARIES)
    return conversation, is_side


def messages(calls, text, tokens, _):
    """Anthropic Messages, as a stream."""
    blocks = [({"type": "tool_use", "id": f"toolu_{uuid.uuid4().hex[:12]}", "name": name, "input": {}},
               {"type": "input_json_delta", "partial_json": json.dumps(given)}) for name, given in calls]
    blocks = blocks or [({"type": "text", "text": ""}, {"type": "text_delta", "text": text})]
    usage = {"input_tokens": tokens, "output_tokens": 9, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    # Claude Code takes answers with one id for parts of one.
    message = {"id": f"msg_{uuid.uuid4().hex[:12]}", "type": "message", "role": "assistant", "model": "stub", "content": [],
               "stop_reason": None, "stop_sequence": None, "usage": usage}
    events = [("message_start", {"message": message})]
    for index, (block, delta) in enumerate(blocks):
        events += [("content_block_start", {"index": index, "content_block": block}),
                   ("content_block_delta", {"index": index, "delta": delta}), ("content_block_stop", {"index": index})]
    end = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    return [*events, ("message_delta", {"delta": end, "usage": usage}), ("message_stop", {})]


def responses(calls, text, tokens, _):
    """OpenAI Responses, as a stream."""
    items = []
    for name, given in calls:
        item = {"id": f"i_{uuid.uuid4().hex[:8]}", "call_id": f"call_{uuid.uuid4().hex[:12]}", "name": name, "status": "completed"}
        if "/" in name:
            item["namespace"], item["name"] = name.split("/")
        plain = {"type": "custom_tool_call", "input": given}
        items.append(item | (plain if isinstance(given, str) else {"type": "function_call", "arguments": json.dumps(given)}))
    items = items or [{"type": "message", "id": f"m_{uuid.uuid4().hex[:8]}", "role": "assistant", "status": "completed",
                       "content": [{"type": "output_text", "text": text, "annotations": []}]}]
    usage = {"input_tokens": tokens, "output_tokens": 9, "total_tokens": tokens + 9,
             "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    whole = {"id": f"resp_{uuid.uuid4().hex[:12]}", "object": "response", "status": "completed", "model": "stub", "output": items, "usage": usage}
    events = [("response.created", {"response": {**whole, "status": "in_progress", "output": []}})]
    for index, item in enumerate(items):
        events += [("response.output_item.added", {"output_index": index, "item": item}),
                   ("response.output_item.done", {"output_index": index, "item": item})]
    return [*events, ("response.completed", {"response": whole})]


def chat(calls, text, tokens, is_stream):
    """OpenAI Chat Completions."""
    message = {"role": "assistant", "content": text}
    if calls:
        tools = [{"index": index, "id": f"call_{uuid.uuid4().hex[:12]}", "type": "function",
                  "function": {"name": name, "arguments": json.dumps(given)}} for index, (name, given) in enumerate(calls)]
        message = {"role": "assistant", "content": None, "tool_calls": tools}
    head = {"id": f"chat_{uuid.uuid4().hex[:12]}", "created": 1, "model": "stub"}
    reason = "tool_calls" if calls else "stop"
    usage = {"prompt_tokens": tokens, "completion_tokens": 9, "total_tokens": tokens + 9}
    if not is_stream:
        choice = {"index": 0, "message": message, "finish_reason": reason}
        return {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
    head["object"] = "chat.completion.chunk"
    return [
        (None, {**head, "choices": [{"index": 0, "delta": message, "finish_reason": None}]}),
        (None, {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}),
        (None, "[DONE]"),
    ]


def gemini(calls, text, tokens, is_stream):
    """Gemini's generateContent."""
    parts = [{"functionCall": {"name": name, "args": given}} for name, given in calls] or [{"text": text}]
    candidate = {"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": parts}}
    usage = {"promptTokenCount": tokens, "candidatesTokenCount": 9, "totalTokenCount": tokens + 9}
    answer = {"candidates": [candidate], "usageMetadata": usage}
    return [(None, answer)] if is_stream else answer


def side_text(body):
    """Returns the text for a request beside the conversations."""
    config = body.get("generationConfig") or {}
    if "responseJsonSchema" in config or "responseSchema" in config or config.get("responseMimeType") == "application/json":
        return json.dumps({"reasoning": "x", "next_speaker": "user", "complexity_reasoning": "x", "complexity_score": 9,
                           "model_choice": "flash"})
    said = json.dumps(body).lower()
    return SUMMARY if "summar" in said or "state_snapshot" in said else "done"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.send(json.dumps({"object": "list", "data": [{"id": "stub", "object": "model"}]}), "application/json")

    def read_body(self):
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            raw = b""
            while size := int(self.rfile.readline().split(b";")[0].strip() or b"0", 16):
                raw += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        raw = gzip.decompress(raw) if self.headers.get("content-encoding") == "gzip" else raw
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            body = {}
        return body if isinstance(body, dict) else {}

    def do_POST(self):
        body, path = self.read_body(), self.path.split("?")[0]
        if "count" in path.lower():
            return self.send(json.dumps({"input_tokens": 9, "totalTokens": 9}), "application/json")
        is_gemini = "generatecontent" in path.lower()
        speak = (messages if path.endswith("/messages") else responses if path.endswith("/responses")
                 else chat if path.endswith("/chat/completions") else gemini if is_gemini else None)
        if speak is None:
            return self.send("{}", "application/json")
        step = self.server.script.answer(body)
        text = side_text(body) if step is None and conversation_of(body)[1] else "done"
        is_stream = body.get("stream", False) or "stream" in path.lower()
        # A request for a summary is as long as the conversation was, or a client takes the summary for longer than that.
        tokens = step.tokens if step else self.server.script.most_tokens() if text == SUMMARY else 9
        events = speak(step.calls if step else [], text, tokens, is_stream)
        if isinstance(events, dict):
            return self.send(json.dumps(events), "application/json")
        lines = []
        for name, data in events:
            text = data if isinstance(data, str) else json.dumps({"type": name, **data} if name else data)
            lines.append((f"event: {name}\n" if name else "") + f"data: {text}\n\n")
        self.send("".join(lines), "text/event-stream")

    def send(self, text, kind):
        data = text.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class Model:
    """`with Model() as model:` serves what `model.play(script)` was given last."""

    def __enter__(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.root = f"http://127.0.0.1:{self.server.server_port}"
        return self

    def play(self, script):
        self.server.script = script

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
