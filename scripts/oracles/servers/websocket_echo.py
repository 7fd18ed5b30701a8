"""Echo servers for WebSockets: `websocket_echo.py KIND`, where KIND is websockets, websockets-deflate, aiohttp or wsproto.

Prints its port. Each server closes with 1001 after the text `close`, sends `fragments A B` back in two fragments where its library can,
and chooses the subprotocol `echo`.
"""
import asyncio
import sys


def parts(text):
    """Returns the fragments that a text asks for, or None."""
    words = text.split(" ") if isinstance(text, str) else []
    return words[1:] if words[:1] == ["fragments"] else None


async def with_websockets(compression):
    from websockets.asyncio.server import serve

    async def handle(connection):
        async for message in connection:
            if message == "close":
                await connection.close(1001, "going away")
            else:
                await connection.send(parts(message) or message)

    async with serve(handle, "127.0.0.1", 0, max_size=None, subprotocols=["echo"], compression=compression) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()


async def with_aiohttp():
    from aiohttp import WSMsgType, web

    async def handle(request):
        socket = web.WebSocketResponse(protocols=["echo"], max_msg_size=0)
        await socket.prepare(request)
        async for message in socket:
            if message.type == WSMsgType.TEXT and message.data == "close":
                await socket.close(code=1001, message=b"going away")
            elif message.type == WSMsgType.TEXT:
                await socket.send_str("".join(parts(message.data) or [message.data]))
            elif message.type == WSMsgType.BINARY:
                await socket.send_bytes(message.data)
        return socket

    app = web.Application()
    app.router.add_get("/", handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


async def with_wsproto():
    from wsproto import ConnectionType, WSConnection
    from wsproto.events import AcceptConnection, BytesMessage, CloseConnection, Message, Ping, Request, TextMessage

    async def handle(reader, writer):
        connection, text, data = WSConnection(ConnectionType.SERVER), "", b""
        while chunk := await reader.read(1 << 16):
            connection.receive_data(chunk)
            for event in connection.events():
                answers = []
                if isinstance(event, Request):
                    answers = [AcceptConnection(subprotocol="echo" if "echo" in event.subprotocols else None)]
                elif isinstance(event, (Ping, CloseConnection)):
                    answers = [event.response()]
                elif isinstance(event, TextMessage):
                    text += event.data
                    if event.message_finished:
                        words, text = parts(text) or [text], ""
                        if words == ["close"]:
                            answers = [CloseConnection(code=1001, reason="going away")]
                        else:
                            answers = [Message(data=word, message_finished=word is words[-1]) for word in words]
                elif isinstance(event, BytesMessage):
                    data += event.data
                    if event.message_finished:
                        answers, data = [Message(data=data)], b""
                for answer in answers:
                    writer.write(connection.send(answer))
                if isinstance(event, CloseConnection):
                    await writer.drain()
                    return writer.close()
            await writer.drain()
        writer.close()

    async def guarded(reader, writer):
        try:
            await handle(reader, writer)
        except ConnectionError:
            writer.close()

    server = await asyncio.start_server(guarded, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


SERVERS = {
    "websockets": lambda: with_websockets(None), "websockets-deflate": lambda: with_websockets("deflate"),
    "aiohttp": with_aiohttp, "wsproto": with_wsproto,
}
asyncio.run(SERVERS[sys.argv[1]]())
