"""Installs and starts what the measurements need, takes them in rounds, prints one table and one line per bar."""

import argparse
import json
import pathlib
import signal
import subprocess
import sys

import bars
import build
import http_cells
import machine
import micro
import pages
import table
import transfers
from failures import Failures
from servers import Servers

BENCHMARKS = pathlib.Path(__file__).resolve().parents[1]
SCRATCH = BENCHMARKS.parent / ".build-bench"


def main():
    parser = argparse.ArgumentParser(prog="Benchmarks/run", description=__doc__)
    parser.add_argument("--json", metavar="FILE", help="where to write all figures too")
    parser.add_argument("--quick", action="store_true", help="12 KB over plain HTTP/1.1 and the bars only")
    parser.add_argument("--only", choices=["bars", "http", "micro", "transfer"], help="one part alone")
    options = parser.parse_args()

    SCRATCH.mkdir(exist_ok=True)
    machine.install("nginx", "curl", "openssl")
    failures = Failures()
    figures = {"machine": machine.description(), "quick": options.quick}

    def wants(part):
        return options.only in (None, part, "bars")

    if options.only in (None, "bars"):
        figures["releaseBuildSeconds"] = build.time_of_release_build(failures)
    site = pages.write(SCRATCH / "site")
    if wants("micro"):
        program = build.program(BENCHMARKS / "Micro", "micro")
        figures["micro"] = micro.measure(program, site, options.quick, failures)
    if wants("http") or wants("transfer"):
        bench = build.program(BENCHMARKS, "bench")
        with Servers(SCRATCH, site) as servers:
            if wants("http"):
                cells = http_cells.plan(options.quick, only_bars=options.only == "bars")
                figures["http"] = http_cells.measure(bench, servers, site, cells, failures)
            if wants("transfer"):
                figures["transfer"] = transfers.measure(bench, servers, SCRATCH, options.quick, failures)

    print(table.text(figures))
    figures["bars"] = bars.judge(figures, failures)
    figures["notMeasured"] = failures.lines
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(figures, indent=1) + "\n")
    for line in failures.lines:
        print(f"not measured: {line}")
    for bar in figures["bars"]:
        print(bar["line"])
    return 1 if failures.lines else 0


if __name__ == "__main__":
    # Ended from outside it stops its servers too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:
        sys.exit(f"not measured: everything: {error}")
