"""GETs of pages. A cell is a peer, a protocol, a body and a number of requests in flight, measured in rounds.

The peers of a round run directly after each other, in another order each round, so that other programs affect all
peers alike. A cell's figure is the median of its rounds.
"""

import dataclasses
import statistics
import sys

import bench
import machine
import pages
from rounds import quartiles

BYTES = ["urlsession", "foundation", "curl", "router", "ahc"]
TYPED = ["urlsession+decode", "router+decode", "ahc+decode"]
# The lower bound for clients over libcurl.
FLOOR = ["libcurl", "libcurl+decode"]
# Clients are fastest when tasks run on the client's threads.
EXECUTORS = ["curl+executor", "router+executor", "router+executor+decode", "ahc+executor", "ahc+executor+decode"]
# URLSession on Linux trusts only the system's authorities.
SYSTEM_AUTHORITIES = ("urlsession", "foundation")
# The cells of most bars and of the plot.
BAR_GROUP = ("h1", "12 KB", 16)
# The cells of the bars against the floor.
FLOOR_GROUPS = [BAR_GROUP, ("h1", "91 bytes", 16), ("h1", "1 KB POST", 16), ("h1", "1 MB", 4)]


@dataclasses.dataclass(frozen=True)
class Cell:
    protocol: str
    body: str
    in_flight: int
    peer: str
    rounds: int
    seconds: float
    # A burst sends as many requests as are in flight over this number of connections. None measures for some seconds.
    burst: int | None = None

    @property
    def group(self):
        return (self.protocol, self.body, self.in_flight)


def groups(quick, only_bars):
    """Returns the peers for each protocol, body and number in flight."""
    wanted = {group: ["curl", "router+decode", *FLOOR] for group in FLOOR_GROUPS}
    wanted[BAR_GROUP] = [*BYTES, *TYPED, *FLOOR, *EXECUTORS]
    if only_bars:
        return wanted
    wanted["h1", "12 KB", 1] = [*BYTES, *TYPED, "libcurl"]
    if quick:
        return wanted
    for count in (64, 256):
        wanted["h1", "12 KB", count] = BYTES + TYPED
    for body, count in [("91 bytes", 16), ("1 KB POST", 16), ("1 MB", 4)]:
        wanted["h1", body, count] = BYTES + TYPED + FLOOR
    for body, count in [("1 KB", 1), ("1 KB", 16), ("1 MB", 1)]:
        wanted["h1", body, count] = BYTES + TYPED
    for protocol in ("h1+TLS", "h2+TLS"):
        for count in (1, 16, 256):
            wanted[protocol, "12 KB", count] = BYTES + TYPED
    return wanted


def plan(quick, only_bars=False):
    """Returns the cells, sorted so that those of a group are adjacent."""
    cells = []
    for group, peers in groups(quick, only_bars).items():
        rounds, seconds = (3, 0.4)
        if group in FLOOR_GROUPS:
            rounds, seconds = (5 if quick else 9), 0.7
        cells += [Cell(*group, peer, rounds, seconds) for peer in peers]
    return sorted(cells, key=lambda cell: (cell.protocol, pages.SIZES[cell.body], cell.in_flight))


def burst(quick):
    """Returns the cells of many calls at once."""
    peers = {"12 KB": ["router", "ahc", "router+decode", "ahc+decode"]}
    if not quick:
        peers["91 bytes"] = ["router", "ahc"]
    return [
        Cell("h1", body, count, peer, rounds=3 if quick else 7, seconds=0, burst=64)
        for body in peers for count in (1_000, 5_000, 10_000) for peer in peers[body]
    ]


def possible(cells, left_out):
    """Returns the cells that this machine can measure. Adds a sentence about the others to a list."""
    def leave_out(cells, is_impossible, sentence):
        if any(map(is_impossible, cells)):
            left_out.append(sentence)
        return [cell for cell in cells if not is_impossible(cell)]

    if not machine.SIMDJSON.exists():
        cells = leave_out(cells, lambda cell: cell.peer == "libcurl+decode", "libcurl+decode needs simdjson (libsimdjson-dev)")
    if not machine.can_replace_authorities():
        cells = leave_out(
            cells, needs_system_authority, "urlsession and foundation with TLS need root, for a mount of the authority")
    return cells


def needs_system_authority(cell):
    return "TLS" in cell.protocol and cell.peer.startswith(SYSTEM_AUTHORITIES)


def measure(programs, servers, site, cells, failures):
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
                    runs[cell].append({"round": number, **measure_once(programs, servers, site, cell)})
                except bench.Failed as error:
                    what = f"{cell.protocol}, {cell.body}, {cell.in_flight} in flight"
                    failures.add(cell.peer, what, error)
                    failed.add(cell)
        print(f"http: round {number + 1} of {max(cell.rounds for cell in cells)}", file=sys.stderr, flush=True)
    return [result(cell, runs[cell]) for cell in cells]


def measure_once(programs, servers, site, cell):
    url = servers.url(cell.protocol, f"/{pages.FOLDERS[cell.body]}/")
    words = [
        programs["floor" if cell.peer in FLOOR else "bench"], "http", "--peer", cell.peer, "--url", url,
        "--in-flight", cell.in_flight, "--warm-up", min(0.2, cell.seconds / 2), "--expect", pages.file(site, cell.body),
    ]
    words += ["--requests", cell.in_flight, "--connections", cell.burst] if cell.burst else ["--seconds", cell.seconds]
    if cell.body == "1 KB POST":
        words += ["--post", pages.file(site, "1 KB")]
    if needs_system_authority(cell):
        words = [*machine.trusting(servers.authority), *words]
    elif "TLS" in cell.protocol:
        words += ["--ca", servers.authority]
    if cell.protocol != "h2+TLS":
        words.append("--http1")
    figures = bench.run(*words, timeout=60)
    if figures["errors"]:
        raise bench.Failed(f"{figures['errors']} requests failed, the first one with: {figures['firstError']}")
    return figures


def result(cell, runs):
    names = ["requestsPerSecond", "seconds", "cpuMicroseconds", "p50Microseconds", "p99Microseconds", "peakKiB", "peakGrowthKiB"]
    return {
        **dataclasses.asdict(cell),
        "median": {name: statistics.median(run[name] for run in runs) for name in names} if runs else None,
        "cpuQuartiles": quartiles([run["cpuMicroseconds"] for run in runs]) if runs else None,
        "runs": runs,
    }


def by_peer(cells, group):
    """Returns the cells of a protocol, body and number in flight by their peer."""
    return {cell["peer"]: cell for cell in cells if (cell["protocol"], cell["body"], cell["in_flight"]) == group}
