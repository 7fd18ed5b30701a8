"""The CPU time of operations without a network. The micro program names the figures."""

import statistics

import bench
import pages


def measure(program, site, quick, failures):
    """Returns nanoseconds by name: the medians of some processes, and those of each. None if a process fails."""
    try:
        seconds = 0.05 if quick else 0.1
        runs = [bench.run(program, "--seconds", seconds, "--page", pages.file(site, "12 KB"))["operations"] for _ in range(3 if quick else 5)]
    except bench.Failed as error:
        failures.add("micro", "all", error)
        return None
    return {"operations": {name: statistics.median(run[name] for run in runs) for name in runs[0]}, "runs": runs}
