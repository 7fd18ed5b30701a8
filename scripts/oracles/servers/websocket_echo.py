"""Echo servers for WebSockets: `websocket_echo.py KIND PEM`, where KIND is websockets, websockets-deflate, aiohttp, wsproto or
wsproto-deflate, and PEM is a file with a key and its certificates.

Prints two ports: without and with TLS. Each server chooses the subprotocol `echo`, and obeys texts: `close` closes with 1001, `drop`
ends the connection, `fragments A B` comes back in two fragments, `pieces N SIZE` gives a message of N fragments, and `flood N SIZE` N
messages. aiohttp cannot send fragments.
"""
import asyncio
import logging
import ssl
import sys


def words(message):
    return message.split(" ") if isinstance(message, str) else [""]


def parts(message):
    """Returns the fragments of the answer to a message."""
    name, *values = words(message)
    if name == "fragments":
        return values
    if name == "pieces":
        return [b"p" * int(values[1])] * int(values[0])
    return None


def flood(message):
    """Returns the messages that answer a message."""
    name, *values = words(message)
    return [b"f" * int(values[1])] * int(values[0]) if name == "flood" else None


async def with_websockets(compression):
    from websockets.asyncio.server import serve

    async def handle(connection):
        async for message in connection:
            if message == "close":
                await connection.close(1001, "going away")
            elif message == "drop":
                connection.transport.abort()
            elif answers := flood(message):
                for answer in answers:
                    await connection.send(answer)
            else:
                await connection.send(parts(message) or message)

    def choose(connection, offered):
        return "echo" if "echo" in offered else None

    for context in (None, TLS):
        server = await serve(
            handle, "127.0.0.1", 0, max_size=None, select_subprotocol=choose, compression=compression, ssl=context,
            max_queue=None)
        yield server.sockets[0]


async def with_aiohttp():
    from aiohttp import WSMsgType, web

    async def handle(request):
        socket = web.WebSocketResponse(protocols=["echo"], max_msg_size=0)
        await socket.prepare(request)
        async for message in socket:
            if message.type == WSMsgType.TEXT and message.data == "close":
                await socket.close(code=1001, message=b"going away")
            elif message.type == WSMsgType.TEXT and message.data == "drop":
                request.transport.abort()
            elif answers := flood(message.data):
                for answer in answers:
                    await socket.send_bytes(answer)
            elif fragments := parts(message.data):
                if isinstance(fragments[0], bytes):
                    await socket.send_bytes(b"".join(fragments))
                else:
                    await socket.send_str("".join(fragments))
            elif message.type == WSMsgType.TEXT:
                await socket.send_str(message.data)
            elif message.type == WSMsgType.BINARY:
                await socket.send_bytes(message.data)
        return socket

    app = web.Application()
    app.router.add_get("/", handle)
    runner = web.AppRunner(app)
    await runner.setup()
    for context in (None, TLS):
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
        await site.start()
        yield site._server.sockets[0]


async def with_wsproto(extensions):
    from wsproto import ConnectionType, WSConnection
    from wsproto.connection import ConnectionState
    from wsproto.events import AcceptConnection, BytesMessage, CloseConnection, Message, Ping, Request, TextMessage

    def answers_to(message):
        if message == "close":
            return [CloseConnection(code=1001, reason="going away")]
        if messages := flood(message):
            return [Message(data=data) for data in messages]
        fragments = parts(message) or [message]
        last = len(fragments) - 1
        return [Message(data=part, message_finished=index == last) for index, part in enumerate(fragments)]

    async def handle(reader, writer):
        connection, pieces = WSConnection(ConnectionType.SERVER), []
        while chunk := await reader.read(1 << 16):
            connection.receive_data(chunk)
            for event in connection.events():
                answers = []
                if isinstance(event, Request):
                    chosen = "echo" if "echo" in event.subprotocols else None
                    answers = [AcceptConnection(subprotocol=chosen, extensions=extensions())]
                elif isinstance(event, (Ping, CloseConnection)):
                    answers = [event.response()]
                elif isinstance(event, (TextMessage, BytesMessage)):
                    pieces.append(event.data)
                    if event.message_finished:
                        message, pieces = ("" if isinstance(event, TextMessage) else b"").join(pieces), []
                        if message == "drop":
                            return writer.transport.abort()
                        answers = answers_to(message)
                if connection.state in (ConnectionState.CONNECTING, ConnectionState.OPEN, ConnectionState.REMOTE_CLOSING):
                    for answer in answers:
                        writer.write(connection.send(answer))
                        await writer.drain()
                if isinstance(event, CloseConnection):
                    return writer.close()
        writer.close()

    async def guarded(reader, writer):
        try:
            await handle(reader, writer)
        except ConnectionError:
            writer.close()

    for context in (None, TLS):
        server = await asyncio.start_server(guarded, "127.0.0.1", 0, ssl=context)
        yield server.sockets[0]


def wsproto_deflate():
    from wsproto.extensions import PerMessageDeflate

    return [PerMessageDeflate()]


SERVERS = {
    "websockets": lambda: with_websockets(None), "websockets-deflate": lambda: with_websockets("deflate"),
    "aiohttp": with_aiohttp, "wsproto": lambda: with_wsproto(list), "wsproto-deflate": lambda: with_wsproto(wsproto_deflate),
}
TLS = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)


async def serve_kind(kind):
    logging.disable()  # The libraries log the broken ends that the checks cause.
    TLS.load_cert_chain(sys.argv[2])
    ports = [socket.getsockname()[1] async for socket in SERVERS[kind]()]
    print(*ports, flush=True)
    await asyncio.Event().wait()


asyncio.run(serve_kind(sys.argv[1]))
