"""A process that makes one typed GET and ends: its duration, its CPU time and the size of its program."""

import os
import pathlib
import statistics
import subprocess
import sys
import time

import bench
import machine
import pages
from rounds import quartiles


def measure(folder, floor, servers, quick, failures):
    """Returns the medians and the runs by peer, without peers whose every run failed."""
    url = servers.url("h1", f"/{pages.FOLDERS['12 KB']}/now_playing")
    commands = {
        "urlsession+decode": [folder / "once-urlsession", url], "router+decode": [folder / "once-router", url],
        "ahc+decode": [folder / "once-ahc", url], "libcurl+decode": [floor, "once", url],
        # Does not decode, so it prints the number itself.
        "curl command": ["curl", "--silent", "--fail", "--output", "/dev/null", "--write-out", str(pages.MOVIES["12 KB"]), url],
    }
    if not machine.SIMDJSON.exists():
        del commands["libcurl+decode"]
    peers = list(commands)
    runs = {peer: [] for peer in peers}
    for number in range(10 if quick else 50):
        turn = number % len(peers)
        for peer in peers[turn:] + peers[:turn]:
            try:
                runs[peer].append({"round": number, **once(commands[peer])})
            except bench.Failed as error:
                failures.add("start", peer, error)
    print("start: done", file=sys.stderr, flush=True)
    return {peer: result(those, commands[peer][0]) for peer, those in runs.items() if those}


def result(runs, program):
    return {
        "median": {name: statistics.median(run[name] for run in runs) for name in runs[0] if name != "round"},
        "quartiles": quartiles([run["milliseconds"] for run in runs]),
        "strippedKiB": stripped(program) / 1_024 if isinstance(program, pathlib.Path) else None,
        "runs": runs,
    }


def once(command):
    start = time.monotonic()
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=bench.ENVIRONMENT)
    output = process.stdout.read().decode().strip()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    if process.returncode != 0 or output != str(pages.MOVIES["12 KB"]):
        raise bench.Failed(f"exit {process.returncode}: {output[:300]}")
    return {"milliseconds": seconds * 1e3, "cpuMilliseconds": (usage.ru_utime + usage.ru_stime) * 1e3, "peakKiB": usage.ru_maxrss}


def stripped(program: pathlib.Path):
    """Returns the size in bytes of a program without symbols."""
    copy = program.with_name(program.name + ".stripped")
    subprocess.run(["strip", "-o", copy, program], check=True)
    size = copy.stat().st_size
    copy.unlink()
    return size
