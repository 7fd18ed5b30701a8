#!/usr/bin/env python3
"""scripts/resume_kill.py PROGRAM FOLDER POINTS SEED: downloads by PROGRAM that are killed and run again; see resume-kill.

What a download has fetched is counted twice: by nginx, which logs the bytes of the body that it handed to the socket of
each connection, those that the killed program never read included; and by the file before the last run and what the
program says of that run. The socket's buffer is small, and the rate limited, so that a kill falls amid the transfer.
"""
import hashlib
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

from nginx_server import Nginx, program as nginx

SIZE = 32 << 20
RATE = 32 << 20  # bytes per second
MOST = 1.1  # times the size that may be fetched
PATIENCE = 60  # seconds until a run is given up


class Missed(Exception):
    """The download was over before it could be killed."""


class Point:
    """One download, to be killed and run again, and what is wrong with it."""

    def __init__(self, run, number, session, name="file"):
        self.nginx, self.program, self.session = run.nginx, run.program, session
        self.query = f"point={number}"
        self.url = f"{self.nginx.url(name)}?{self.query}"
        self.source = run.files / name
        self.folder = run.folder / f"point-{number}"
        self.folder.mkdir()
        self.file = self.folder / "saved.bin"
        self.partial = self.folder / ".saved.bin.download"
        self.problems = []

    def expect(self, holds, what):
        if not holds:
            self.problems.append(what)

    def start(self, *options):
        command = [self.program, "download", self.url, self.file, "--session", self.session, "--keep", *options]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def size(self):
        """The bytes that are kept; None when there is no file of them."""
        try:
            return self.partial.stat().st_size
        except FileNotFoundError:
            return None

    def kill(self, size):
        """Kills a run once so many bytes are kept."""
        with self.start() as running:
            deadline = time.monotonic() + PATIENCE
            while (self.size() or 0) < size:
                if running.poll() is not None:
                    raise Missed
                if time.monotonic() > deadline:
                    running.kill()
                    raise RuntimeError(f"{size} bytes did not arrive within {PATIENCE} seconds")
                time.sleep(0.001)
            running.kill()
            running.communicate()
        if running.returncode != -signal.SIGKILL:
            raise Missed
        self.expect(not self.file.exists(), "the file had its name before it was whole")

    def kill_before_first_byte(self):
        """The server stands still meanwhile: the request is sent, and no answer comes."""
        self.nginx.signal(signal.SIGSTOP)
        try:
            with self.start() as running:
                deadline = time.monotonic() + PATIENCE
                while self.size() is None and time.monotonic() < deadline:
                    time.sleep(0.001)
                time.sleep(0.1)  # it may as well get as far as to wait
                running.kill()
                running.communicate()
        finally:
            self.nginx.signal(signal.SIGCONT)
        self.expect(self.size() == 0, f"{self.size()} bytes are kept of no answer")

    def kill_before_name(self):
        """With the last byte there, and the name not yet."""
        with self.start("--hold") as running:
            line = running.stdout.readline()
            running.kill()
            running.communicate()
        self.expect(line == "whole\n" and self.size() == SIZE, f"{self.size()} bytes are kept of {SIZE}, {line!r}")
        self.expect(not self.file.exists(), "the file had its name before it was verified")

    def finish(self, most=MOST, status=206):
        """Runs it to its end, and looks at what it leaves."""
        kept = self.size() or 0
        with self.start() as running:
            try:
                output = running.communicate(timeout=PATIENCE)[0].split()
            except subprocess.TimeoutExpired:
                running.kill()
                output = []
        self.expect(running.returncode == 0, f"the last run ended with {running.returncode}")
        self.expect(self.file.exists() and digest(self.file) == digest(self.source), "the file is another")
        left = [path.name for path in self.folder.iterdir() if path != self.file]
        self.expect(not left, f"left behind: {left}")
        exchanges = self.nginx.exchanges(self.query)
        handed = sum(count for _, count in exchanges)
        if most:
            self.expect(handed <= most * SIZE, f"nginx handed out {handed / SIZE:.3f} times the size")
        said = (int(output[0]), int(output[1])) if len(output) == 2 else None
        self.expect(exchanges and said == exchanges[-1], f"the program says {said}, nginx {exchanges}")
        if most and said:
            self.expect(kept + said[1] <= most * SIZE, f"{kept} bytes were kept and {said[1]} fetched again")
        self.expect(said and said[0] == status, f"the last run was answered with {said}, not {status}")
        self.file.unlink(missing_ok=True)
        return handed


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").digest() if hasattr(hashlib, "file_digest") else \
            hashlib.sha256(file.read()).digest()


def write(path, content, changed):
    """nginx makes its entity tag of the size and the second of the last change."""
    path.write_bytes(content)
    os.utime(path, (changed, changed))


class Run:
    """All points, one after the other."""

    def __init__(self, program, folder, seed):
        self.program, self.folder, self.files = program, folder, folder / "files"
        self.random = random.Random(seed)
        self.number = self.passed = self.failed = 0
        self.most = 0
        self.files.mkdir()
        write(self.files / "file", self.random.randbytes(SIZE), 1_000_000_000)

    def point(self, name, session, check):
        for _ in range(3):  # a machine that is busy may miss a kill
            self.number += 1
            point = Point(self, self.number, session, "file" if name != "changed" else "changed")
            try:
                handed = check(point)
                break
            except Missed:
                point.problems = ["the download was over before it could be killed"]
            except (OSError, RuntimeError) as error:
                point.problems.append(repr(error))
                break
        if point.problems:
            self.failed += 1
            print(f"{name}, {session}: {'; '.join(point.problems)}", file=sys.stderr)
        else:
            self.passed += 1
            if name != "changed":
                self.most = max(self.most, handed / SIZE)

    def random_kills(self, point):
        sizes = sorted(self.random.randrange(1, SIZE * 9 // 10) for _ in range(self.random.randrange(1, 4)))
        for size in sizes:
            if size > (point.size() or 0):
                point.kill(size)
        return point.finish()

    def before_first_byte(self, point):
        point.kill_before_first_byte()
        return point.finish(status=200)

    def before_name(self, point):
        point.kill_before_name()
        return point.finish()

    def changed(self, point):
        write(point.source, self.random.randbytes(SIZE), 1_000_000_000)
        point.kill(self.random.randrange(SIZE // 4, SIZE * 3 // 4))
        write(point.source, self.random.randbytes(SIZE), 1_100_000_000)
        return point.finish(most=None, status=200)

    def all(self, points):
        listening, location = "sndbuf=64k", f"limit_rate {RATE};"
        sessions = ["curl", "foundation"] if sys.platform == "linux" else ["foundation"]
        with Nginx(self.folder, self.files, listening, location) as self.nginx:
            for number in range(points):
                self.point("random", sessions[number % len(sessions)], self.random_kills)
            for session in sessions:
                self.point("before the first byte", session, self.before_first_byte)
                self.point("before the name", session, self.before_name)
                self.point("changed", session, self.changed)
        print(f"at most {self.most:.3f} times the size was handed out for one file")
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed or not self.passed else 0


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    if not nginx():
        sys.exit("resume-kill: there is no nginx; Debian has it in the package nginx-light")
    sys.exit(Run(sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[4])).all(int(sys.argv[3])))
