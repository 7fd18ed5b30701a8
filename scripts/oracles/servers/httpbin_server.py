"""Serves httpbin on two free loopback ports. Once it answers, writes the ports to the file named on the command line.

Uses gunicorn, because werkzeug's server closes every connection and httpbin accepts chunked bodies only with gunicorn.
"""
import os
import sys

from gunicorn.app.base import BaseApplication


def write_ports(worker):
    with open(sys.argv[1] + ".new", "w", encoding="ascii") as file:
        file.writelines(f"{socket.getsockname()[1]}\n" for socket in worker.sockets)
    os.replace(sys.argv[1] + ".new", sys.argv[1])


class Server(BaseApplication):
    settings = {
        "bind": ["127.0.0.1:0", "127.0.0.1:0"],
        "worker_class": "gthread",
        "threads": 32,
        "keepalive": 75,
        "timeout": 0,
        "graceful_timeout": 1,
        "limit_request_line": 0,
        "accesslog": "-",
        "post_worker_init": write_ports,
    }

    def load_config(self):
        for name, value in self.settings.items():
            self.cfg.set(name, value)

    def load(self):
        from httpbin import app

        return app


Server().run()
