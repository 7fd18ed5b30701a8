"""WebSockets that echo messages of 1 KB. A cell is a peer and a number of connections, measured in rounds as in http_cells."""

import statistics
import subprocess
import sys

import bench
import build
from servers import free_ports

PEERS = ["router", "router+executor", "nio", "nio+executor", "websockets"]
LOWER_BOUNDS = ["threads", "thread"]  # for one connection
CONNECTIONS = [1, 64]
PACKAGE = "websockets==17.4"


def measure(program, servers, quick, failures):
    """Returns the cells with their medians. A cell without runs has the median None."""
    python = python_with_websockets()
    (port,) = free_ports(1)
    servers.launch([str(program), "echo", "--port", str(port)])
    servers.wait_for(port)
    peers = {count: PEERS + LOWER_BOUNDS * (count == 1) for count in CONNECTIONS}
    runs = {(count, peer): [] for count in CONNECTIONS for peer in peers[count]}
    rounds, seconds = (3 if quick else 9), (1 if quick else 1.5)
    for number in range(rounds):
        for count in CONNECTIONS:
            first = number % len(peers[count])
            for peer in peers[count][first:] + peers[count][:first]:
                if runs[count, peer] is None:
                    continue
                try:
                    figures = measure_once(program, python, port, peer, count, seconds)
                    runs[count, peer].append({"round": number, **figures})
                except bench.Failed as error:
                    failures.add(peer, f"{count} WebSockets", error)
                    runs[count, peer] = None
        print(f"sockets: round {number + 1} of {rounds}", file=sys.stderr, flush=True)
    return [result(count, peer, those or []) for (count, peer), those in runs.items()]


def measure_once(program, python, port, peer, count, seconds):
    if peer == "websockets":
        return bench.run(python, "-B", build.ROOT / "Benchmarks/driver/socket_client.py", port, count, seconds, 0.3)
    url = f"http://127.0.0.1:{port}/"
    return bench.run(program, "socket", "--peer", peer, "--url", url, "--connections", count, "--seconds", seconds)


def python_with_websockets():
    """Returns a Python that has the package of PyPI. Installs it the first time."""
    environment = build.SCRATCH / "websockets"
    python, stamp = environment / "bin" / "python", environment / PACKAGE
    if not stamp.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", environment], check=True)
        subprocess.run([python, "-m", "pip", "--disable-pip-version-check", "--quiet", "install", PACKAGE], check=True)
        stamp.touch()
    return python


def result(count, peer, runs):
    names = ["messagesPerSecond", "cpuMicroseconds", "peakKiB"]
    return {
        "connections": count, "peer": peer,
        "median": {name: statistics.median(run[name] for run in runs) for name in names} if runs else None,
        "runs": runs,
    }
