"""Runs the bench program: one process for each figure."""

import json
import os
import subprocess

# Requests to loopback must bypass the machine's proxy.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}


class Failed(Exception):
    """The program returned no figures."""


def run(program, *words, timeout=120):
    """Runs the program and returns the JSON that it printed."""
    try:
        done = subprocess.run(
            [program, *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, timeout=timeout, env=ENVIRONMENT)
    except subprocess.TimeoutExpired:
        raise Failed(f"did not end within {timeout} s") from None
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise Failed(f"exit {done.returncode}: {lines[0][:300] if lines else 'no message'}")
    return json.loads(done.stdout.splitlines()[-1])
