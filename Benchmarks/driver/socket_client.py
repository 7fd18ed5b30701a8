"""Echoes messages over WebSockets with the library `websockets`, and prints its figures: PORT CONNECTIONS SECONDS WARM_UP."""

import asyncio
import json
import resource
import sys
import time

from websockets.asyncio.client import connect

MESSAGE = bytes(number * 7 % 256 for number in range(1_024))


def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return (usage.ru_utime + usage.ru_stime) * 1e6


async def echo(port, start, end):
    count = 0
    async with connect(f"ws://127.0.0.1:{port}/", compression=None, max_size=None, proxy=None) as socket:
        while True:
            await socket.send(MESSAGE)
            if await socket.recv() != MESSAGE:
                raise ValueError("another message than was sent")
            now = time.monotonic()
            if now > end:
                return count
            count += now > start


async def usage(start, end):
    await asyncio.sleep(start - time.monotonic())
    began, used = time.monotonic(), cpu()
    await asyncio.sleep(end - time.monotonic())
    return cpu() - used, time.monotonic() - began


async def main(port, connections, seconds, warm_up):
    start = time.monotonic() + warm_up
    end = start + seconds
    *counts, (used, duration) = await asyncio.gather(
        *(echo(port, start, end) for _ in range(connections)), usage(start, end))
    count = sum(counts)
    print(json.dumps({
        "messages": count, "messagesPerSecond": count / duration, "cpuMicroseconds": used / max(1, count),
        "peakKiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }))


asyncio.run(main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])))
