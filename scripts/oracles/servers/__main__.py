"""Serves TLS of every kind, proxies and HTTP/2 on free loopback ports until it is told to end.

python scripts/oracles/servers FOLDER: writes certificates and, once everything listens, servers.json there: who is where.
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
    # Not in the folder: the path of a unix socket has room for a hundred characters.
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
