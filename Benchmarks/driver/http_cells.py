"""GETs of pages. A cell is a peer, a protocol, a body and a number of requests in flight, measured in rounds.

The peers of a round run directly after each other, in another order each round, so that other programs affect all
peers alike. A cell's figure is the median of its rounds.
"""

import dataclasses
import statistics
import sys

import bench
import pages

BYTES = ["urlsession", "foundation", "curl", "router", "ahc"]
TYPED = ["urlsession+decode", "router+decode", "ahc+decode"]
# libcurl alone is the lower bound for CurlSession. Clients are fastest when tasks run on the client's threads.
EXECUTORS = ["curl+executor", "router+executor", "router+executor+decode", "ahc+executor", "ahc+executor+decode"]
# URLSession on Linux trusts only the system's authorities, so it rejects the certificate of this run.
WITHOUT_TLS = ("urlsession", "foundation")
# The cells of the bars and the plot.
BAR_GROUP = ("h1", "12 KB", 16)


@dataclasses.dataclass(frozen=True)
class Cell:
    protocol: str
    body: str
    in_flight: int
    peer: str
    rounds: int
    seconds: float

    @property
    def group(self):
        return (self.protocol, self.body, self.in_flight)


def groups(quick, only_bars):
    """Returns the peers for each protocol, body and number in flight."""
    wanted = {BAR_GROUP: [*BYTES, *TYPED, "libcurl", *EXECUTORS]}
    if only_bars:
        return wanted
    wanted["h1", "12 KB", 1] = [*BYTES, *TYPED, "libcurl"]
    if quick:
        return wanted
    for count in (64, 256):
        wanted["h1", "12 KB", count] = BYTES + TYPED
    for body, counts in {"1 KB": (1, 16), "1 MB": (1, 4)}.items():
        for count in counts:
            wanted["h1", body, count] = BYTES + TYPED
    for protocol in ("h1+TLS", "h2+TLS"):
        for count in (1, 16, 256):
            wanted[protocol, "12 KB", count] = [
                peer for peer in BYTES + TYPED if not peer.startswith(WITHOUT_TLS)]
    return wanted


def plan(quick, only_bars=False):
    """Returns the cells, sorted so that those of a group are adjacent."""
    cells = []
    for group, peers in groups(quick, only_bars).items():
        rounds, seconds = (3, 0.4)
        if group == BAR_GROUP:
            rounds, seconds = (5 if quick else 9), 0.7
        cells += [Cell(*group, peer, rounds, seconds) for peer in peers]
    return sorted(cells, key=lambda cell: (cell.protocol, pages.SIZES[cell.body], cell.in_flight))


def measure(program, servers, site, cells, failures):
    """Returns the cells with their medians. A cell without runs has the median None."""
    runs = {cell: [] for cell in cells}
    failed = set()
    groups = list(dict.fromkeys(cell.group for cell in cells))
    for number in range(max(cell.rounds for cell in cells)):
        for group in groups:
            members = [cell for cell in cells if cell.group == group and number < cell.rounds]
            turn = number % len(members) if members else 0
            for cell in members[turn:] + members[:turn]:
                if cell in failed:
                    continue
                try:
                    runs[cell].append({"round": number, **measure_once(program, servers, site, cell)})
                except bench.Failed as error:
                    what = f"{cell.protocol}, {cell.body}, {cell.in_flight} in flight"
                    failures.add(cell.peer, what, error)
                    failed.add(cell)
        print(f"http: round {number + 1} of {max(cell.rounds for cell in cells)}", file=sys.stderr, flush=True)
    return [result(cell, runs[cell]) for cell in cells]


def measure_once(program, servers, site, cell):
    url = servers.url(cell.protocol, f"/{pages.FOLDERS[cell.body]}/")
    words = [
        "http", "--peer", cell.peer, "--url", url, "--in-flight", cell.in_flight, "--seconds", cell.seconds,
        "--warm-up", min(0.2, cell.seconds / 2), "--expect", pages.file(site, cell.body),
    ]
    if "TLS" in cell.protocol:
        words += ["--ca", servers.authority]
    if cell.protocol != "h2+TLS":
        words.append("--http1")
    figures = bench.run(program, *words, timeout=60)
    if figures["errors"]:
        raise bench.Failed(f"{figures['errors']} requests failed, the first one with: {figures['firstError']}")
    return figures


def result(cell, runs):
    names = ["requestsPerSecond", "cpuMicroseconds", "p50Microseconds", "p99Microseconds", "peakKiB"]
    return {
        **dataclasses.asdict(cell),
        "median": {name: statistics.median(run[name] for run in runs) for name in names} if runs else None,
        "runs": runs,
    }


def of_bars(cells):
    """Returns the cells that the bars use, by peer."""
    return {cell["peer"]: cell for cell in cells if (cell["protocol"], cell["body"], cell["in_flight"]) == BAR_GROUP}
