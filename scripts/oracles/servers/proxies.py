"""Proxies that log their requests: HTTP with CONNECT, HTTP over TLS and SOCKS 5, with and without credentials.

The proxies resolve names that end in .test to loopback. A client cannot resolve these names.
"""
import asyncio
import base64
import contextlib
import ipaddress
import json
import struct

USER, PASSWORD = "proxy-user", "p@ss:of/the%20proxy"
BASIC = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
LOG = []


async def read_head(reader):
    """Returns the request line and the headers with lowercase names, or None at the end of the connection."""
    try:
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    fields = [line.partition(":") for line in lines[1:] if line]
    return lines[0], {name.lower(): value.strip() for name, _, value in fields}


def response(value, status="200 OK", extra=""):
    body = json.dumps(value).encode()
    return f"HTTP/1.1 {status}\r\n{extra}Content-Length: {len(body)}\r\n\r\n".encode("latin-1") + body


async def listen(handler, tls=None):
    server = await asyncio.start_server(handler, "127.0.0.1", 0, ssl=tls)
    return server.sockets[0].getsockname()[1]


async def open_connection(host, port):
    return await asyncio.open_connection("127.0.0.1" if host.endswith(".test") else host.strip("[]"), int(port))


async def copy(reader, writer):
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    with contextlib.suppress(OSError, RuntimeError):
        writer.write_eof() if writer.can_write_eof() else writer.close()


async def tunnel(reader, writer, host, port, success, failure):
    try:
        far_reader, far_writer = await open_connection(host, port)
    except OSError:
        writer.write(failure)
        return
    writer.write(success)
    await asyncio.gather(copy(reader, far_writer), copy(far_reader, writer))
    far_writer.close()


async def forward(reader, writer, method, target, headers):
    """Forwards one request and closes the connection."""
    authority, _, path = target.removeprefix("http://").partition("/")
    host, _, port = authority.rpartition(":")
    far_reader, far_writer = await open_connection(host, port)
    kept = {name: value for name, value in headers.items() if not name.startswith("proxy-")}
    lines = [f"{method} /{path} HTTP/1.1"] + [f"{name}: {value}" for name, value in kept.items()]
    far_writer.write("\r\n".join(lines + ["connection: close", "", ""]).encode("latin-1"))
    far_writer.write(await reader.readexactly(int(headers.get("content-length", 0))))
    await copy(far_reader, writer)
    far_writer.close()


def http_proxy(name, needs_credentials):
    async def serve(reader, writer):
        while head := await read_head(reader):
            method, target, _ = head[0].split(" ")
            authorization = head[1].get("proxy-authorization")
            note = {"proxy": name, "method": method, "target": target, "authorization": authorization}
            LOG.append(note | {"fields": sorted(head[1])})
            if needs_credentials and authorization != BASIC:
                asks = 'Proxy-Authenticate: Basic realm="tests"\r\n'
                writer.write(response({}, "407 Proxy Authentication Required", asks))
                continue
            if method == "CONNECT":
                host, _, port = target.rpartition(":")
                failure = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"
                await tunnel(reader, writer, host, port, b"HTTP/1.1 200 OK\r\n\r\n", failure)
            else:
                await forward(reader, writer, method, target, head[1])
            break
        writer.close()

    return serve


async def negotiate(reader, writer, needs_credentials):
    """Negotiates by RFC 1928, section 3, and RFC 1929. Returns the user, or None if access is denied."""
    _, count = await reader.readexactly(2)
    methods, wanted = await reader.readexactly(count), 2 if needs_credentials else 0
    if wanted not in methods:
        writer.write(b"\x05\xff")
        return None
    writer.write(bytes([5, wanted]))
    if not needs_credentials:
        return ""
    user = await reader.readexactly((await reader.readexactly(2))[1])
    password = await reader.readexactly((await reader.readexactly(1))[0])
    is_right = (user.decode(), password.decode()) == (USER, PASSWORD)
    writer.write(b"\x01\x00" if is_right else b"\x01\x01")
    return user.decode() if is_right else None


async def address(reader):
    """Reads the address of a request (RFC 1928, sections 4 and 5)."""
    _, command, _, kind = await reader.readexactly(4)
    if kind == 3:
        host = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
    else:
        host = str(ipaddress.ip_address(await reader.readexactly(4 if kind == 1 else 16)))
    return host, struct.unpack("!H", await reader.readexactly(2))[0]


def socks_proxy(name, needs_credentials):
    async def serve(reader, writer):
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            user = await negotiate(reader, writer, needs_credentials)
            if user is not None:
                host, port = await address(reader)
                LOG.append({"proxy": name, "method": "CONNECT", "target": f"{host}:{port}", "authorization": user})
                rest = bytes([0, 1, 0, 0, 0, 0, 0, 0])
                await tunnel(reader, writer, host, port, b"\x05\x00" + rest, b"\x05\x05" + rest)
        writer.close()

    return serve


async def tell(reader, writer):
    """Answers any request with the log of all proxies."""
    while await read_head(reader):
        writer.write(response(LOG))
        await writer.drain()
    writer.close()


async def start(tls, untrusted):
    return {
        "http": await listen(http_proxy("http", False)),
        "httpAuth": await listen(http_proxy("httpAuth", True)),
        "https": await listen(http_proxy("https", False), tls),
        "httpsAuth": await listen(http_proxy("httpsAuth", True), tls),
        "httpsUntrusted": await listen(http_proxy("httpsUntrusted", False), untrusted),
        "socks": await listen(socks_proxy("socks", False)),
        "socksAuth": await listen(socks_proxy("socksAuth", True)),
        "log": await listen(tell),
    }
