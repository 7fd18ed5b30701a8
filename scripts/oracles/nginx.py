"""A Debian nginx of one process, on a port of loopback that was free, for the scripts that need a server not of ours."""
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request

# What it hands to a connection, and what it takes, lies in its own folder alone, so it needs no rights.
CONFIGURATION = """
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections 64; }}
http {{
    log_format one '$args $status $body_bytes_sent';
    access_log {folder}/access.log one;
    client_max_body_size 0;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port} {listening};
        location /files/ {{ alias {files}/; {location} }}
        location = /connections {{ stub_status; access_log off; }}
    }}
}}
"""


def program():
    """Where nginx is; daemons are often not on a user's PATH. None when it is missing."""
    return shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")


class Nginx:
    """Serves `files` below /files/, from entering to leaving. `listening` and `location` are words of its own."""

    def __init__(self, folder, files, listening="", location=""):
        self.folder, self.log = folder, folder / "access.log"
        self.words = {"folder": folder, "files": files, "listening": listening, "location": location}

    def __enter__(self):
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that it is left, and stopped
        for _ in range(10):
            with socket.create_server(("127.0.0.1", 0)) as free:
                self.port = free.getsockname()[1]
            if self.start():
                return self
        raise RuntimeError(f"nginx does not start; see {self.folder}/error.log")

    def start(self):
        """False when it ended at once: somebody else may have taken the port."""
        (self.folder / "nginx.conf").write_text(CONFIGURATION.format(port=self.port, **self.words))
        errors = self.folder / "error.log"
        self.process = subprocess.Popen(
            [program(), "-p", self.folder, "-e", errors, "-c", self.folder / "nginx.conf"], stderr=subprocess.DEVNULL)
        for _ in range(500):
            if self.process.poll() is not None:
                return False
            try:
                self.connections()
                return True
            except OSError:
                time.sleep(0.02)
        self.__exit__()
        return False

    def __exit__(self, *_):
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def signal(self, number):
        if self.process.poll() is None:
            self.process.send_signal(number)

    def url(self, name):
        return f"http://127.0.0.1:{self.port}/files/{name}"

    def connections(self):
        """Those that are open, without the one that asks."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/connections", timeout=10) as answer:
            return int(re.search(rb"Active connections: (\d+)", answer.read()).group(1)) - 1

    def exchanges(self, query):
        """The status and the body bytes handed to the socket of each exchange whose URL had this query.

        A line is written when an exchange ends, so this waits until there is none.
        """
        for _ in range(1000):
            if self.connections() == 0:
                break
            time.sleep(0.01)
        else:
            raise RuntimeError("nginx goes on with a connection that its client has left")
        lines = [line.split() for line in self.log.read_text().splitlines()]
        return [(int(status), int(count)) for args, status, count in lines if args == query]
