"""Runs TLS servers of every kind, proxies and HTTP/2 servers on free loopback ports until SIGTERM or SIGINT.

python scripts/oracles/servers FOLDER: writes certificates to FOLDER, and servers.json with all ports once all servers listen.
"""
import asyncio
import json
import pathlib
import signal
import sys
import tempfile

import certificates
import http2
import plain
import proxies


async def main(folder):
    made = certificates.make(folder)
    # A separate folder with a short path, because the path of a unix socket is limited to about a hundred characters.
    with tempfile.TemporaryDirectory(prefix="sb") as sockets:
        everything = plain.start(made, folder, pathlib.Path(sockets)) | {
            "proxies": await proxies.start(plain.context(made["good"]), plain.context(made["untrusted"])),
            "http2": await http2.start(made["second"]),
            "pins": {kind: certificates.pin(files[0]) for kind, files in made.items()},
            "keyPassword": certificates.KEY_PASSWORD,
            "proxyUser": proxies.USER,
            "proxyPassword": proxies.PASSWORD,
        }
        ended = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, ended.set)
        (folder / "servers.json.new").write_text(json.dumps(everything, indent=1))
        (folder / "servers.json.new").rename(folder / "servers.json")
        await ended.wait()


asyncio.run(main(pathlib.Path(sys.argv[1])))
