"""Installs programs, starts servers, takes measurements in rounds, and prints tables and one line per bar."""

import argparse
import json
import pathlib
import signal
import subprocess
import sys

import bars
import build
import costs
import http_cells
import machine
import micro
import pages
import plot
import sockets
import starts
import table
from failures import Failures
from servers import Servers

BENCHMARKS = pathlib.Path(__file__).resolve().parents[1]


def main():
    parser = argparse.ArgumentParser(prog="Benchmarks/run", description=__doc__)
    parser.add_argument("--json", metavar="FILE", help="also write all figures to this file")
    parser.add_argument("--plot", metavar="FILE", help="draw the typed GET into this file; a full run draws Benchmarks/typed-get.svg")
    parser.add_argument("--quick", action="store_true", help="only 12 KB over plain HTTP/1.1, and the bars")
    parser.add_argument("--only", choices=["bars", "http", "burst", "micro", "socket", "start", "costs"], help="only one part")
    options = parser.parse_args()
    is_whole = not options.quick and not options.only

    build.SCRATCH.mkdir(exist_ok=True)
    # The build of the micro program needs valgrind's header, for Benchmarks/instructions.
    machine.install("nginx", "curl", "openssl", "valgrind", "g++")
    machine.install_simdjson()
    failures = Failures()
    figures = {"machine": machine.description(), "quick": options.quick, "leftOut": []}
    if options.only == "costs":
        figures["costs"] = costs.measure()
    else:
        measure(options, figures, failures)

    print(table.text(figures))
    figures["bars"] = bars.judge(figures)
    figures["notMeasured"] = failures.lines
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(figures, indent=1) + "\n")
    if path := options.plot or (is_whole and BENCHMARKS / "typed-get.svg"):
        plot.write(figures, path)
    for line in figures["leftOut"]:
        print(f"left out: {line}")
    for line in failures.lines:
        print(f"not measured: {line}")
    for bar in figures["bars"]:
        print(bar["line"])
    return 1 if failures.lines else 0


def measure(options, figures, failures):
    """Adds the figures of each selected part."""
    def wants(part):
        return options.only in (None, part) or options.only == "bars" and part not in ("start", "burst")

    site = pages.write(build.SCRATCH / "site")
    if wants("micro"):
        program = build.programs(BENCHMARKS / "Micro") / "micro"
        figures["micro"] = micro.measure(program, site, options.quick, failures)
    if not any(map(wants, ("http", "burst", "socket", "start"))):
        return
    programs = build.programs(BENCHMARKS)
    http_programs = {"bench": programs / "bench", "floor": build.floor()}
    with Servers(build.SCRATCH, site) as servers:
        if wants("http"):
            cells = http_cells.possible(
                http_cells.plan(options.quick, only_bars=options.only == "bars"), figures["leftOut"])
            figures["http"] = http_cells.measure(http_programs, servers, site, cells, failures)
        if wants("burst"):
            figures["burst"] = http_cells.measure(http_programs, servers, site, http_cells.burst(options.quick), failures)
        if wants("socket"):
            figures["socket"] = sockets.measure(programs / "bench", servers, options.quick, failures)
        if wants("start"):
            figures["start"] = starts.measure(programs, http_programs["floor"], servers, options.quick, failures)


if __name__ == "__main__":
    # SIGTERM must stop the servers too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:
        sys.exit(f"not measured: everything: {error}")
