"""GETs of a page: each peer, protocol, body and number of requests in flight is a cell, measured in rounds.

The peers of a round follow each other at once, each round in another order, so that what else the machine does hits
all alike. A cell's figure is the median of its rounds.
"""

import dataclasses
import statistics
import sys

import bench
import pages

PEERS = ["urlsession", "foundation", "curl", "router", "router+decode", "ahc"]
# Those that the bars speak of, and libcurl alone, which is what CurlSession cannot be better than.
BAR_PEERS = ["urlsession", "libcurl", "curl", "curl+executor", "router", "router+executor", "ahc", "ahc+executor"]
PROTOCOLS = ["h1", "h1+TLS", "h2+TLS"]
IN_FLIGHT = [1, 16, 64, 256]
# URLSession on Linux trusts the system's authorities alone, so it cannot talk to a server of a run's own.
WITHOUT_TLS = ("urlsession", "foundation")
BAR_GROUPS = [("h1", "12 KB", 1), ("h1", "12 KB", 16)]


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

    @property
    def is_measured(self):
        if self.peer == "router+decode" and self.body == "1 MB" and self.in_flight > 16:
            return False  # Seconds of JSONDecoder and nothing else.
        return self.protocol == "h1" or self.peer not in WITHOUT_TLS


def plan(quick, only_bars=False):
    """The cells, those of a group together."""
    protocols, bodies = (["h1"], ["12 KB"]) if quick else (PROTOCOLS, list(pages.SIZES))
    rounds, seconds = (2, 0.5) if quick else (3, 0.4)
    bar_rounds = 5 if quick else 9
    groups = [(protocol, body, count) for protocol in protocols for body in bodies for count in IN_FLIGHT]
    if only_bars:
        groups = BAR_GROUPS
    cells = []
    for group in groups:
        is_bar = group in BAR_GROUPS
        for peer in BAR_PEERS if is_bar else []:
            cells.append(Cell(*group, peer, bar_rounds, 0.7))
        for peer in PEERS:
            if not is_bar or peer not in BAR_PEERS:
                cells.append(Cell(*group, peer, rounds, seconds))
    return cells


def measure(program, servers, site, cells, failures):
    """A list of cells with their medians; those left out have none."""
    runs = {cell: [] for cell in cells}
    failed = set()
    groups = list(dict.fromkeys(cell.group for cell in cells))
    for number in range(max(cell.rounds for cell in cells)):
        for group in groups:
            members = [cell for cell in cells if cell.group == group and cell.is_measured and number < cell.rounds]
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
        "measured": cell.is_measured,
        "median": {name: statistics.median(run[name] for run in runs) for name in names} if runs else None,
        "runs": runs,
    }
