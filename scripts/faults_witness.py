#!/usr/bin/env python3
"""scripts/faults_witness.py PROGRAM: what the faults of PROGRAM look like to a plain socket and to the curl command.

PROGRAM prints a line for each fault, its name and its port. What is expected stands here, fault by fault, by the words
of MockFault's documentation, RFC 9112 and the exit codes of the curl manual.
"""
import re
import socket
import subprocess
import sys
import time
import zlib

GET = b"GET /asked HTTP/1.1\r\nHost: h\r\n\r\n"
LINE = b"GET /asked HTTP/1.1\r\n"
POST_HEAD = b"POST /asked HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\n"
SILENCE = 0.8  # seconds without a byte that count as a stall
PATIENCE = 20  # seconds until a peer is given up


class Heard:
    """What came over one connection: its bytes, how it ended (closed, reset, silent), and when the bytes came."""

    def __init__(self, port, *sent):
        self.bytes, self.end, self.times = b"", None, []
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as peer:
            start = time.monotonic()
            try:
                for piece in sent:
                    peer.sendall(piece)
            except (BrokenPipeError, ConnectionResetError):
                pass
            while self.end is None:
                # An idle connection is told from a slow one by silence.
                peer.settimeout(SILENCE)
                try:
                    some = peer.recv(65536)
                    self.times.append(time.monotonic() - start)
                    self.bytes += some
                    if not some:
                        self.end = "closed"
                except ConnectionResetError:
                    self.end = "reset"
                except TimeoutError:
                    self.end = "silent"

    @property
    def head(self):
        return self.bytes.partition(b"\r\n\r\n")[0] + b"\r\n\r\n" if b"\r\n\r\n" in self.bytes else None

    @property
    def body(self):
        return self.bytes.partition(b"\r\n\r\n")[2]

    def fields(self, name):
        return [value.decode() for value in re.findall(rb"(?im)^" + name.encode() + rb": *(.*?)\r$", self.head or b"")]

    def __repr__(self):
        return f"{self.end} behind {len(self.bytes)} bytes: {self.bytes[:200]!r}"


def curl(port, *options):
    """The exit code of the curl command, and the bytes of the body it got."""
    command = ["curl", "--disable", "--silent", "--noproxy", "*", "--max-time", "2", "--http1.1", *options]
    done = subprocess.run(command + [f"http://127.0.0.1:{port}/asked"], capture_output=True, timeout=60)
    return done.returncode, done.stdout


def chunks(body):
    """The chunks of a body in order, by RFC 9112 §7.1; raises ValueError where they break its grammar."""
    found = []
    while body:
        line, _, rest = body.partition(b"\r\n")
        size = int(line, 16)
        if size == 0:
            return found + [b""]
        found.append(rest[:size])
        body = rest[size + 2:]
    return found


# Each check gets the port, and says whether what it heard is the fault.
def ends(how, *sent, bytes_=b""):
    def check(port):
        heard = Heard(port, *sent)
        return heard.end == how and heard.bytes == bytes_, heard
    return check


def amid_body(how, length, sent=100):
    def check(port):
        heard = Heard(port, GET)
        announced = int(heard.fields("Content-Length")[0])
        # A reset may take bytes back that were not read yet.
        came = len(heard.body) == sent or how == "reset" and len(heard.body) <= sent
        return heard.end == how and came and announced > length, heard
    return check


def after_head(how):
    def check(port):
        heard = Heard(port, GET)
        if how == "reset" and not heard.bytes:
            return heard.end == how, heard
        return heard.end == how and heard.body == b"" and int(heard.fields("Content-Length")[0]) > 0, heard
    return check


def status_line(how):
    return ends(how, GET, bytes_=b"HTTP/1.1 200 OK\r\n")


def missing_last_chunk(port):
    heard = Heard(port, GET)
    return heard.end == "closed" and chunks(heard.body) == [b"ab", b"cd", b"ef"], heard


def lengths(announced, body, end="closed"):
    def check(port):
        heard = Heard(port, GET)
        return heard.end == end and heard.fields("Content-Length") == announced and heard.body == body, heard
    return check


def bad_chunk_size(port):
    heard = Heard(port, GET)
    try:
        chunks(heard.body)
    except ValueError:
        return heard.fields("Transfer-Encoding") == ["chunked"], heard
    return False, heard


def garbage(port):
    heard = Heard(port, GET)
    return len(heard.bytes) == 1024 and not heard.bytes.startswith(b"HTTP/") and heard.end == "closed", heard


def oversized_header(port):
    heard = Heard(port, GET)
    return len(heard.fields("X-Filler")[0]) == 1 << 20, heard


def interim(count, final):
    def check(port):
        heard = Heard(port, GET)
        came = heard.bytes.count(b"HTTP/1.1 103 Early Hints\r\n")
        last = heard.bytes.endswith(b"\r\n\r\nabc") and b"HTTP/1.1 200 OK\r\n" in heard.bytes
        return came == count and last == final, heard
    return check


def redirect_loop(port):
    heard = Heard(port, GET, LINE.replace(b"asked", b"loop") + b"Host: h\r\n\r\n")
    found = re.findall(rb"HTTP/1.1 302 Found\r\n(?:.*\r\n)*?Location: /loop\r\n", heard.bytes)
    code, _ = curl(port, "--location", "--max-redirs", "5")
    return len(found) == 2 and code == 47, heard


def encoding(name):
    def check(port):
        heard = Heard(port, GET)
        return heard.fields("Content-Encoding") == [name] and heard.body == b"abcdef", heard
    return check


def gzip_bomb(port):
    heard = Heard(port, GET)
    unpacked, size, rest = zlib.decompressobj(wbits=31), 0, heard.body
    while rest:  # zlib checks the CRC and the length itself
        size += len(unpacked.decompress(rest, 1 << 24))
        rest = unpacked.unconsumed_tail
    return unpacked.eof and size >= 1 << 30 and len(heard.body) < 2 << 20, f"{len(heard.body)} bytes, unpacked {size}"


def late(least, body, pieces):
    def check(port):
        heard = Heard(port, GET)
        whole = heard.body if heard.fields("Transfer-Encoding") != ["chunked"] else b"".join(chunks(heard.body))
        return whole == body and len(heard.times) >= pieces and heard.times[-1] >= least, (heard, heard.times)
    return check


def http10(port):
    heard = Heard(port, GET)
    return heard.bytes.startswith(b"HTTP/1.0 200 ") and not heard.fields("Content-Length") and heard.end == "closed", heard


# The check by a socket, and the exit code of curl: 18 partial, 28 timed out, 47 too many redirects, 52 empty reply,
# 0 because curl takes a head that was cut for one that ended,
# 55 and 56 sending and receiving failed, 61 bad encoding, 63 too large; 1 and 8 what curl does not take for HTTP.
EXPECTED = {
    "close-on-accept": (ends("closed"), {52, 56}),
    "reset-on-accept": (ends("reset"), {55, 56}),
    "stall-on-accept": (ends("silent", GET), {28}),
    "close-after-request-line": (ends("closed", LINE), {52, 56}),
    "reset-after-request-line": (ends("reset", LINE), {56}),
    "close-after-request-head": (ends("closed", POST_HEAD), {52, 55, 56}),
    "reset-amid-request-body": (ends("reset", POST_HEAD, b"x" * 10), {55, 56}),
    "close": (ends("closed", GET), {52}),
    "reset": (ends("reset", GET), {56}),
    "stall": (ends("silent", GET), {28}),
    "close-after-status-line": (status_line("closed"), {0, 52, 56}),
    "stall-after-status-line": (status_line("silent"), {28}),
    "close-after-head": (after_head("closed"), {18}),
    "reset-after-head": (after_head("reset"), {56}),
    "truncated": (amid_body("closed", 100), {18}),
    "reset-amid-body": (amid_body("reset", 100), {56}),
    "stalled": (amid_body("silent", 100), {28}),
    "missing-last-chunk": (missing_last_chunk, {18}),
    "length-too-long": (lengths(["10"], b"abcdef"), {18}),
    "length-too-short": (lengths(["3"], b"abcdef"), {0}),
    "lengths-that-differ": (lengths(["6", "5"], b"abcdef"), {0, 8, 18}),
    "equal-lengths": (lengths(["3", "3"], b"abc"), {0}),
    "bad-chunk-size": (bad_chunk_size, {56}),
    "garbage": (garbage, {1}),
    "oversized-header": (oversized_header, {27, 56}),
    "interim-without-end": (interim(20_000, False), {52, 56}),
    "redirect-loop": (redirect_loop, {0}),
    "no-gzip": (encoding("gzip"), {61}),
    "unknown-encoding": (encoding("rot13"), {61}),
    "gzip-bomb": (gzip_bomb, None),
    "late": (late(0.02, b"late", 1), {0}),
    "slow-chunks": (late(0.04, b"abcdef", 3), {0}),
    "throttled": (late(0.05, bytes(4_000), 2), {0}),
    "split-head": (late(0.02, b"abc", 2), {0}),
    "slow-loris": (late(0.1, b"abc", 30), {0}),
    "http-1.0": (http10, {0}),
    "trailing-bytes": (lengths(["3"], b"abctrailing"), {0}),
    "interim-storm": (interim(50, True), {0}),
}


def main(program):
    server = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    passed = failed = 0
    try:
        faults = {}
        for _ in range(1000):
            words = server.stdout.readline().split()
            if not words:
                break
            faults[words[0]] = (int(words[1]), words[2] == "body")
            if words[0] not in EXPECTED:
                print(f"{words[0]}: nobody says what it should be", file=sys.stderr)
                failed += 1
            if len(faults) == len(EXPECTED):
                break
        for name, (check, codes) in EXPECTED.items():
            if name not in faults:
                print(f"{name}: not served", file=sys.stderr)
                failed += 1
                continue
            port, needs_body = faults[name]
            try:
                holds, heard = check(port)
            except (ValueError, IndexError, OSError, zlib.error) as error:
                holds, heard = False, error
            body = ["--data-binary", "x" * 100_000] if needs_body else []
            unpacking = ["--compressed"] if name in ("no-gzip", "unknown-encoding") else []
            code = curl(port, *body, *unpacking)[0] if codes else None
            if holds and (codes is None or code in codes):
                passed += 1
            else:
                failed += 1
                print(f"{name}: curl exits with {code}, a socket hears {heard}", file=sys.stderr)
    finally:
        server.stdin.close()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
