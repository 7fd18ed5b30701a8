"""A process that makes one typed GET and ends: its duration, its CPU time and the size of its program."""

import os
import pathlib
import statistics
import subprocess
import sys
import time

import bench
import pages

PROGRAMS = {"urlsession+decode": "once-urlsession", "router+decode": "once-router", "ahc+decode": "once-ahc"}


def measure(folder, servers, quick, failures):
    """Returns the medians by peer, without peers whose every run failed."""
    url = servers.url("h1", f"/{pages.FOLDERS['12 KB']}/now_playing")
    runs = {peer: [] for peer in PROGRAMS}
    for _ in range(10 if quick else 30):
        for peer, program in PROGRAMS.items():
            try:
                runs[peer].append(once(folder / program, url))
            except bench.Failed as error:
                failures.add("start", peer, error)
    print("start: done", file=sys.stderr, flush=True)
    return {
        peer: {
            **{name: statistics.median(run[name] for run in those) for name in those[0]},
            "strippedKiB": stripped(folder / PROGRAMS[peer]) / 1_024,
        }
        for peer, those in runs.items() if those
    }


def once(program, url):
    start = time.monotonic()
    process = subprocess.Popen(
        [program, url], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=bench.ENVIRONMENT)
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
