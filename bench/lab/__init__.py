"""Runs real coding agents against a scripted model; `bench/clients.py` is the command."""
