"""Starts nginx for the pages, and other servers, on free ports of loopback."""

import os
import signal
import socket
import subprocess
import time

import certificates
import machine
import pages

CONFIGURATION = """
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    default_type application/json;
    sendfile on;
    tcp_nopush on;
    open_file_cache max=64;
    keepalive_requests 1000000000;
    keepalive_timeout 600s;
    client_max_body_size 0;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    http2_max_concurrent_streams 256;
    ssl_certificate {certificate};
    ssl_certificate_key {key};
    ssl_protocols TLSv1.2 TLSv1.3;
    root {site};
    server {{
        listen 127.0.0.1:{http};
        location /post/ {{ return 200 '{answer}'; }}
    }}
    server {{ listen 127.0.0.1:{https} ssl; }}
    server {{ listen 127.0.0.1:{http2} ssl http2; }}
}}
"""


class Servers:
    """Starts the servers on entry and stops them by process ID on exit, also after an error."""

    def __init__(self, scratch, site):
        self.folder = scratch / "nginx"
        self.site = site
        self.processes = []

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def url(self, protocol, path="/"):
        """Returns the URL of a path: plain for `h1`, encrypted for `h1+TLS` and `h2+TLS`."""
        scheme = "https" if "TLS" in protocol else "http"
        return f"{scheme}://127.0.0.1:{self.ports[protocol]}{path}"

    def start(self):
        self.folder.mkdir(exist_ok=True)
        self.authority, certificate, key = certificates.make(self.folder)
        self.ports = dict(zip(("h1", "h1+TLS", "h2+TLS"), free_ports(3)))
        text = CONFIGURATION.format(
            folder=self.folder, site=self.site, certificate=certificate, key=key,
            http=self.ports["h1"], https=self.ports["h1+TLS"], http2=self.ports["h2+TLS"],
            answer=pages.file(self.site, "1 KB POST").read_text())
        configuration = self.folder / "nginx.conf"
        configuration.write_text(text)
        nginx = [machine.path("nginx"), "-p", str(self.folder), "-e", str(self.folder / "error.log")]
        self.launch([*nginx, "-c", str(configuration)])
        for port in self.ports.values():
            self.wait_for(port)

    def launch(self, command):
        self.processes.append(subprocess.Popen(command))

    def wait_for(self, port):
        deadline = time.monotonic() + 10
        while True:
            try:
                return socket.create_connection(("127.0.0.1", port), timeout=1).close()
            except OSError:
                if time.monotonic() > deadline or any(process.poll() is not None for process in self.processes):
                    raise RuntimeError(f"a server did not start; see {self.folder}/error.log") from None
                time.sleep(0.02)

    def stop(self):
        for process in self.processes:
            if process.poll() is None:
                os.kill(process.pid, signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes = []


def free_ports(count):
    """Returns different ports without a listener."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports
