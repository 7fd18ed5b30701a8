#!/usr/bin/env python3
"""scripts/transfer_memory.py PROGRAM FOLDER MIB JSON: the table of transfer-memory, and its figures in the file JSON.

Peak memory is the `ru_maxrss` of the process, by wait4(2); time is that of the whole process, from its start to its end.
The file is in the page cache, and all is on loopback. nginx takes uploads by PUT, into a file that is compared.
"""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

from nginx_server import Nginx, program as nginx

BAR = 64  # MiB that a peak must be below
DIRECTIONS = ("download", "upload", "form")

# Rows that the platform does not let under the bar, and why: (session, direction) to text.
EXCUSED = {}

# A process's peak includes that of the image it was forked from, so this one is small: an interpreter without modules.
MEASURE = """
import posix, sys, time
start = time.monotonic()
quiet = [(posix.POSIX_SPAWN_OPEN, 1, "/dev/null", posix.O_WRONLY, 0)]
process = posix.posix_spawnp(sys.argv[1], sys.argv[1:], posix.environ, file_actions=quiet)
_, status, usage = posix.wait4(process, 0)
print(posix.waitstatus_to_exitcode(status), usage.ru_maxrss, time.monotonic() - start)
"""


def measured(command):
    """The seconds and the peak MiB of a command, which must succeed."""
    words = [sys.executable, "-I", "-S", "-c", MEASURE, *map(str, command)]
    status, peak, seconds = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    if status != "0":
        raise RuntimeError(f"it ended with {status}")
    return float(seconds), int(peak) / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def digest(path, start=0, size=None):
    """Of `size` bytes of a file from `start` on."""
    whole, buffer = hashlib.sha256(), memoryview(bytearray(1 << 20))
    with open(path, "rb", buffering=0) as file:
        file.seek(start)
        rest = os.path.getsize(path) - start if size is None else size
        while rest and (count := file.readinto(buffer[:min(rest, len(buffer))])):
            whole.update(buffer[:count])
            rest -= count
    return whole.digest()


def form_content(path):
    """Where the file lies in a form (RFC 7578): start and size. The boundary is the form's first line."""
    with open(path, "rb") as file:
        head = file.read(4_096)
    boundary = head.partition(b"\r\n")[0]
    start = head.index(b"\r\n\r\n", head.index(b'name="file"')) + 4
    tail = b"\r\n" + boundary + b"--\r\n"
    with open(path, "rb") as file:
        file.seek(-len(tail), os.SEEK_END)
        if file.read() != tail:
            raise RuntimeError("the form does not end with its boundary")
    return start, os.path.getsize(path) - len(tail) - start


class Transfers:
    def __init__(self, program, folder, size):
        self.program, self.folder, self.size = program, folder, size
        self.files = folder / "files"
        self.files.mkdir()
        self.large = self.files / "large.bin"
        with open(self.large, "wb") as file:
            for _ in range(size):
                file.write(os.urandom(1 << 20))
        self.wanted = digest(self.large)

    def run(self, client, direction):
        """The figures of a client that moves the file; what is wrong is said in `problem`."""
        sent, saved = self.files / "sent.bin", self.folder / "saved.bin"
        url = self.nginx.url(self.large.name if direction == "download" else sent.name)
        options = {
            "download": ["-o", saved, url], "upload": ["-T", self.large, url],
            "form": ["-X", "PUT", "-F", "title=a file", "-F", f"file=@{self.large}", url],
        }
        if client == "curl command":
            command = ["curl", "--disable", "-sS", "--fail", "--noproxy", "*", *options[direction]]
        else:
            command = [self.program, direction, url, saved if direction == "download" else self.large]
            command += ["--session", client]
        row = {"client": client, "direction": direction}
        try:
            seconds, row["peakMiB"] = measured(command)
            row["MiBPerSecond"] = self.size / seconds
            content = (sent, *form_content(sent)) if direction == "form" else \
                (saved if direction == "download" else sent,)
            if digest(*content) != self.wanted:
                raise RuntimeError("what arrived is another file")
        except (OSError, RuntimeError, ValueError) as error:
            row["problem"] = str(error)
        for path in (sent, saved):
            path.unlink(missing_ok=True)
        return row

    def all(self):
        sessions = ["curl", "foundation"] if sys.platform == "linux" else ["foundation"]
        with Nginx(self.folder, self.files, location="dav_methods PUT;") as self.nginx:
            self.run("curl command", "download")  # warms what all have to do with
            rows = []
            for direction in DIRECTIONS:
                rows += [self.run(client, direction) for client in ("curl command", *sessions)]
        return rows


def verdict(row):
    """Whether it is as it should be, and what to say of it."""
    if "problem" in row:
        return False, row["problem"]
    if row["client"] == "curl command":
        return True, ""
    if row["peakMiB"] < BAR:
        return True, f"under {BAR} MiB"
    excuse = EXCUSED.get((row["client"], row["direction"]))
    return bool(excuse), excuse or f"not under {BAR} MiB"


def text(rows, size):
    lines = [f"{size} MiB", f"{'transfer':<10}{'by':<14}{'peak MiB':>10}{'MiB/s':>10}{'of curl':>10}"]
    for row in rows:
        curl = next(one for one in rows if one["direction"] == row["direction"] and one["client"] == "curl command")
        figures = [f"{row['peakMiB']:.1f}" if "peakMiB" in row else "-"]
        speed, theirs = row.get("MiBPerSecond"), curl.get("MiBPerSecond")
        figures += [f"{speed:,.0f}" if speed else "-", f"{speed / theirs:.2f}" if speed and theirs else "-"]
        line = f"{row['direction']:<10}{row['client']:<14}" + "".join(f"{figure:>10}" for figure in figures)
        lines.append(f"{line}  {verdict(row)[1]}".rstrip())
    return "\n".join(lines)


def main(program, folder, size, figures):
    if not nginx() or not shutil.which("curl"):
        sys.exit("transfer-memory: needs nginx and curl; Debian has them in the packages nginx-light and curl")
    rows = Transfers(program, pathlib.Path(folder), size).all()
    print(text(rows, size))
    if figures:
        pathlib.Path(figures).write_text(json.dumps({"sizeMiB": size, "rows": rows}, indent=2) + "\n")
    failed = sum(not verdict(row)[0] for row in rows)
    print(f"{len(rows) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]))
