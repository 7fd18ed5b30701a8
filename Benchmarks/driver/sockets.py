"""WebSockets that echo messages of 1 KB. A cell is a peer and a number of connections, measured in rounds as in http_cells."""

import statistics
import sys

import bench
from servers import free_ports

PEERS = ["router", "router+executor", "nio", "nio+executor"]
CONNECTIONS = [1, 64]


def measure(program, servers, quick, failures):
    """Returns the cells with their medians. A cell without runs has the median None."""
    (port,) = free_ports(1)
    servers.launch([str(program), "echo", "--port", str(port)])
    servers.wait_for(port)
    runs = {(count, peer): [] for count in CONNECTIONS for peer in PEERS}
    rounds, seconds = (3 if quick else 9), (1 if quick else 1.5)
    for number in range(rounds):
        for count in CONNECTIONS:
            first = number % len(PEERS)
            for peer in PEERS[first:] + PEERS[:first]:
                if runs[count, peer] is None:
                    continue
                try:
                    figures = measure_once(program, port, peer, count, seconds)
                    runs[count, peer].append({"round": number, **figures})
                except bench.Failed as error:
                    failures.add(peer, f"{count} WebSockets", error)
                    runs[count, peer] = None
        print(f"sockets: round {number + 1} of {rounds}", file=sys.stderr, flush=True)
    return [result(count, peer, those or []) for (count, peer), those in runs.items()]


def measure_once(program, port, peer, count, seconds):
    url = f"http://127.0.0.1:{port}/"
    return bench.run(program, "socket", "--peer", peer, "--url", url, "--connections", count, "--seconds", seconds)


def result(count, peer, runs):
    names = ["messagesPerSecond", "cpuMicroseconds", "peakKiB"]
    return {
        "connections": count, "peer": peer,
        "median": {name: statistics.median(run[name] for run in runs) for name in names} if runs else None,
        "runs": runs,
    }
