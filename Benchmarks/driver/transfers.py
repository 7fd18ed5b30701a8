"""1 GiB uploaded, downloaded and echoed, by the session and by the curl command in turn, with the same server."""

import os
import pathlib
import statistics
import subprocess
import sys

import bench

SIZE = 1 << 30
KINDS = ["upload", "download", "echo"]


def measure(program, servers, scratch, quick, failures):
    """Returns the medians of both clients for each kind, or None for a kind that failed."""
    source = servers.large / "source"
    target = scratch / "received"
    write(source)
    results = {}
    try:
        for kind in KINDS:
            results[kind] = measure_kind(kind, program, servers, source, target, 3 if quick else 5, failures)
            print(f"transfer: {kind}", file=sys.stderr, flush=True)
    finally:
        for file in (source, target):
            file.unlink(missing_ok=True)
    return results


def measure_kind(kind, program, servers, source, target, rounds, failures):
    url = servers.url("h1", "/large/source") if kind == "download" else servers.url(
        "bodies", "/echo" if kind == "echo" else "/take")
    clients = {"session": session, "curl": curl}
    runs = {name: [] for name in clients}
    try:
        for number in range(rounds):
            # The clients take turns at going first.
            for name in list(clients)[:: 1 if number % 2 == 0 else -1]:
                runs[name].append(clients[name](kind, program, url, source, target))
                if kind == "download" and number == 0:
                    compare(source, target)
                target.unlink(missing_ok=True)
    except bench.Failed as error:
        failures.add("transfer", kind, error)
        return None
    names = list(runs)
    figures = {
        name: {key: statistics.median(run[key] for run in runs[name]) for key in runs[name][0]} for name in names
    }
    figures["ratio"] = statistics.median(
        theirs["seconds"] / ours["seconds"] for ours, theirs in zip(runs["session"], runs["curl"]))
    figures["session"]["peakKiB"] = max(run["peakKiB"] for run in runs["session"])
    return figures


def session(kind, program, url, source, target):
    words = ["--to", target] if kind == "download" else ["--file", source]
    figures = bench.run(program, "transfer", "--kind", kind, "--url", url, *words)
    if figures["bytes"] != SIZE:
        raise bench.Failed(f"received {figures['bytes']} of {SIZE} bytes")
    return figures


def curl(kind, program, url, source, target):
    """Runs curl, which measures its own time without its start. `Expect` is off, because the session sends none."""
    words = ["-o", target] if kind == "download" else ["-T", source, "-H", "Expect:", "-o", "/dev/null"]
    sizes = "%{time_total} %{size_upload} %{size_download}"
    command = ["curl", "-q", "-sS", "--http1.1", "--noproxy", "*", *map(str, words), "-w", sizes, url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        output, errors = process.communicate()
    if process.returncode != 0:
        raise bench.Failed(f"curl: {errors.strip()}")
    seconds, sent, received = map(float, output.split())
    if (sent if kind == "upload" else received) != SIZE:
        raise bench.Failed(f"curl transferred {sent} and {received} bytes")
    return {"seconds": seconds}


def write(path: pathlib.Path):
    """Writes a file whose content does not repeat at any buffer's length."""
    block = os.urandom((1 << 20) + 7)
    with path.open("wb") as file:
        for _ in range(SIZE // len(block)):
            file.write(block)
        file.write(block[: SIZE - file.tell()])


def compare(one, other):
    if subprocess.run(["cmp", "-s", str(one), str(other)]).returncode != 0:
        raise bench.Failed("the received file differs from the source")
