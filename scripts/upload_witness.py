"""Run by scripts/upload-witness: PROGRAM FOLDER POINTS SEED."""
import hashlib
import os
import random
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request

program, folder, points, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
SIZE = 8 << 20
REGISTRY = """version: 0.1
log: {level: error}
storage: {filesystem: {rootdirectory: %s}, delete: {enabled: true}}
http: {addr: "127.0.0.1:%d"}
"""
TUS = """
from fastapi import FastAPI
from tuspyserver import create_tus_router
app = FastAPI()
app.include_router(create_tus_router(files_dir=%r, max_size=1 << 30))
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A server in a process of its own, on a free port."""

    def __init__(self, name, command, environment=None):
        self.name = name
        self.log = open(os.path.join(folder, f"{name}.log"), "wb")
        for _ in range(5):  # the port may be taken before the server has it
            self.port = free_port()
            self.process = subprocess.Popen(
                command(self.port), stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL, env=environment)
            if self.is_up():
                return
            self.stop()
        with open(self.log.name, errors="replace") as log:
            sys.exit(f"upload-witness: {name} does not start:\n{log.read()[-2000:]}")

    def is_up(self):
        end = time.monotonic() + 30
        while time.monotonic() < end and self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return True
            except OSError:
                time.sleep(0.05)
        return False

    def stop(self):
        self.process.kill()
        self.process.wait()


class Cutter:
    """Passes connections on to a server, and cuts each after as many bytes to it as `limits` says; then it cuts no more."""

    def __init__(self, port, limits):
        self.port_behind, self.limits = port, list(limits)
        self.cuts = 0
        self.passed = 0
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.port_behind))
            except OSError:
                return
            with self.lock:
                limit = self.limits.pop(0) if self.limits else None
            threading.Thread(target=self.pump, args=(client, server, limit), daemon=True).start()
            threading.Thread(target=self.pump, args=(server, client, None), daemon=True).start()

    def pump(self, source, sink, limit):
        count = 0
        try:
            while data := source.recv(65536):
                if limit is not None and count + len(data) > limit:
                    sink.sendall(data[: limit - count])
                    with self.lock:
                        self.passed += limit - count
                        self.cuts += 1
                    break
                count += len(data)
                with self.lock:
                    self.passed += len(data)
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def stop(self):
        self.listener.close()


def run(words, kill_after=None, cutter=None):
    process = subprocess.Popen([program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    if kill_after is not None:
        while process.poll() is None and cutter.passed < kill_after:
            time.sleep(0.002)
        process.kill()
    output, errors = process.communicate(timeout=120)
    return process.returncode, (output + errors).decode(errors="replace")


def registry_point(server, cutter, file, data, session, state):
    digest = "sha256:" + hashlib.sha256(data).hexdigest()
    words = ["registry", f"http://127.0.0.1:{cutter.port}/v2/some/name/blobs/uploads/", file, "--digest", digest]
    yield words + ["--session", session, "--state", state]
    with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/v2/some/name/blobs/{digest}") as answer:
        yield answer.read()


def tus_point(server, cutter, file, data, session, state):
    yield ["tus", f"http://127.0.0.1:{cutter.port}/files/", file, "--session", session, "--state", state]
    # An upload that was opened by a process that died before it could note so is left behind, unfinished.
    sizes = []
    for entry in os.scandir(server.files):
        if entry.is_file() and not entry.name.endswith((".info", ".lock", ".json")):
            sizes.append(entry.stat().st_size)
            with open(entry.path, "rb") as uploaded:
                if uploaded.read() == data:
                    yield data
                    return
    yield f"none of the uploads is the file; they have {sizes} bytes"


def check(server, point, number, chance):
    file, state = (os.path.join(folder, f"{server.name}-{number}{end}") for end in ("", ".state"))
    data = chance.randbytes(SIZE + chance.randrange(3))
    with open(file, "wb") as out:
        out.write(data)
    # The limits of a connection: five are cut, within or between pieces.
    cutter = Cutter(server.port, [chance.randrange(200, 3 << 20) for _ in range(5)])
    steps = point(server, cutter, file, data, ("curl", "foundation")[number % 2], state)
    words = next(steps)
    for _ in range(2):
        run(words, kill_after=cutter.passed + chance.randrange(1, 3 << 20), cutter=cutter)
    status, said = run(words)
    if status != 0:
        return f"exit {status}: {said.strip()}"
    got = next(steps)
    if got != data:
        return got if isinstance(got, str) else f"the server has {len(got)} other bytes"
    if os.path.exists(state):
        return "the state is still there"
    cutter.stop()
    print(f"{server.name} {number}: {cutter.cuts} cuts, 2 kills, {cutter.passed / SIZE:.2f} times the file was sent")
    return None


def main():
    chance = random.Random(seed)
    servers = []
    passed = failed = 0
    try:
        files = os.path.join(folder, "tus")
        os.mkdir(files)
        with open(os.path.join(folder, "tus_app.py"), "w") as app:
            app.write(TUS % files)
        command = [sys.executable, "-m", "uvicorn", "--app-dir", folder, "tus_app:app", "--log-level", "warning"]
        tus = Server("tus", lambda port: [*command, "--port", str(port)])
        tus.files = files
        servers.append((tus, tus_point))
        if registry := shutil.which("docker-registry"):
            def serve(port):
                path = os.path.join(folder, "registry.yml")
                with open(path, "w") as out:
                    out.write(REGISTRY % (os.path.join(folder, "blobs"), port))
                return [registry, "serve", path]
            servers.append((Server("registry", serve), registry_point))
        else:
            print("docker-registry is not here: left out")
        for server, point in servers:
            for number in range(points):
                fault = check(server, point, number, chance)
                passed, failed = (passed, failed + 1) if fault else (passed + 1, failed)
                if fault:
                    print(f"FAILED {server.name} {number}: {fault}")
    finally:
        for server, _ in servers:
            server.stop()
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
