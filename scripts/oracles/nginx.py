"""Runs nginx as a single process on a free port of loopback, for scripts that need an independent server."""
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request

import support

# All its files are in one folder, so it needs no privileges.
CONFIGURATION = """
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections 256; }}
http {{
    log_format one '$args $status $body_bytes_sent $http_x_request_id';
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
        {server}
    }}
}}
"""


def program():
    """Returns the path of nginx, also from the folders of daemons, or None if it is not installed."""
    return shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")


class Nginx:
    """Serves `files` below /files/ from entry to exit. `listening`, `location` and `server` are nginx directives to add."""

    def __init__(self, folder, files, listening="", location="", server=""):
        self.folder, self.log = folder, folder / "access.log"
        self.words = {"folder": folder, "files": files, "listening": listening, "location": location, "server": server}

    def __enter__(self):
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that __exit__ runs and stops nginx
        for _ in range(10):
            self.port = support.free_port()
            if self.start():
                return self
        raise RuntimeError(f"nginx does not start; see {self.folder}/error.log")

    def start(self):
        """Starts nginx. Returns False if it ended at once, because another process may have taken the port."""
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
        """Returns the number of open connections, without that of this request."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/connections", timeout=10) as answer:
            return int(re.search(rb"Active connections: (\d+)", answer.read()).group(1)) - 1

    def exchanges(self, query):
        """Returns the status and the number of sent body bytes of each exchange whose URL has this query."""
        return [(status, count) for args, status, count, _ in self.logged() if args == query]

    def logged(self):
        """Returns the query, status, number of sent body bytes and X-Request-ID of each exchange.

        nginx logs an exchange when it ends, so this waits until no connection is open.
        """
        for _ in range(1000):
            if self.connections() == 0:
                break
            time.sleep(0.01)
        else:
            raise RuntimeError("nginx keeps a connection open that its client has closed")
        lines = [line.split() for line in self.log.read_text().splitlines()]
        return [(args, int(status), int(count), number) for args, status, count, number in lines]
