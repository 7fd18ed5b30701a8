"""HTTP/2 servers: httpbin on hypercorn, and a server that sends frames that a well-behaved server would not."""
import asyncio
import collections
import contextlib
import json
import socket
import ssl

import h2.config
import h2.connection
import h2.events
import h2.exceptions
from hypercorn.asyncio import serve
from hypercorn.config import Config
from hypercorn.middleware import AsyncioWSGIMiddleware
from plain import context

MEETINGS, REFUSED, WAITING = {}, set(), {}


async def say(send, value):
    body = json.dumps(value).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def lines_of_body(receive):
    body, more = b"", True
    while more:
        event = await receive()
        body += event.get("body", b"")
        more = event.get("more_body", False)
    return collections.Counter(body.decode().split("\n"))


def app(httpbin):
    """Returns httpbin with two additional paths.

    /lines counts the lines of a body. /meet/NAME/COUNT answers once COUNT requests have arrived, with their client ports.
    """

    async def serve_request(scope, receive, send):
        path = scope.get("path", "")
        if path == "/lines":
            await say(send, await lines_of_body(receive))
        elif path.startswith("/meet/"):
            _, _, name, count = path.split("/")
            waiting, everybody = MEETINGS.setdefault(name, ([], asyncio.Event()))
            waiting.append(scope["client"][1])
            if len(waiting) == int(count):
                everybody.set()
            await everybody.wait()
            await say(send, {"port": scope["client"][1], "version": scope["http_version"], "ports": waiting})
        else:
            await httpbin(scope, receive, send)

    return serve_request


def never_empty(wsgi):
    """Adds an empty piece to each response, because hypercorn 0.18 sends no head for a response without pieces."""

    def application(environ, start_response):
        pieces = wsgi(environ, start_response)
        yield b""
        yield from pieces

    return application


async def start_hypercorn(chain_and_key):
    """Starts httpbin over TLS with ALPN, and without TLS. Returns the two ports."""
    from httpbin import app as httpbin

    application, ports = app(AsyncioWSGIMiddleware(never_empty(httpbin), max_body_size=1 << 26)), []
    for files in (chain_and_key, None):
        listening = socket.create_server(("127.0.0.1", 0))
        ports.append(listening.getsockname()[1])
        config = Config()
        config.bind = [f"fd://{listening.detach()}"]
        config.h2_max_concurrent_streams = 200
        config.keep_alive_timeout = 75
        if files:
            config.certfile, config.keyfile = files
        asyncio.ensure_future(serve(application, config, shutdown_trigger=asyncio.Event().wait))
    return ports


class Connection(asyncio.Protocol):
    """One connection. Each path calls the method of that name that ends in `_path`."""

    def connection_made(self, transport):
        self.transport = transport
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        self.unsent, self.late, self.count = {}, {}, 0
        self.h2.initiate_connection()
        self.flush()

    def flush(self):
        self.transport.write(self.h2.data_to_send())

    def data_received(self, data):
        try:
            events = self.h2.receive_data(data)
        except h2.exceptions.ProtocolError:
            events = []
        gone = {event.stream_id for event in events if isinstance(event, h2.events.StreamReset)}
        for stream in gone:
            self.unsent.pop(stream, None)
        for event in events:
            if isinstance(event, h2.events.RequestReceived) and event.stream_id not in gone:
                path = dict(event.headers)[":path"]
                # An answer that ends before the body has arrived stops libcurl 7.88, so the answer of a repetition waits.
                if event.stream_ended is None and path.rpartition("/")[2] in REFUSED:
                    self.late[event.stream_id] = path
                else:
                    self.run(event.stream_id, path)
            elif isinstance(event, h2.events.StreamEnded) and event.stream_id in self.late:
                self.run(event.stream_id, self.late.pop(event.stream_id))
        self.pump()
        self.flush()

    def run(self, stream, path):
        self.count += 1
        name, _, rest = path.lstrip("/").partition("/")
        getattr(self, f"{name}_path")(stream, rest)

    def head(self, stream, *headers, status=200, end=False):
        self.h2.send_headers(stream, [(":status", str(status)), *headers], end_stream=end)

    def body(self, stream, data):
        """Sends all data as fast as the client's windows allow."""
        self.unsent[stream] = memoryview(data)
        self.pump()

    def pump(self):
        for stream, data in list(self.unsent.items()):
            while data:
                size = min(len(data), self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size)
                if size <= 0:
                    break
                self.h2.send_data(stream, bytes(data[:size]), end_stream=size == len(data))
                data = data[size:]
            self.unsent[stream] = data
            if not data:
                del self.unsent[stream]

    def count_path(self, stream, kind):
        """Answers with the client's port, the number of its requests, and the bytes that wait for a window. Sends the length of
        the answer if `kind` is `sized`."""
        port = self.transport.get_extra_info("peername")[1]
        unsent = sum(map(len, self.unsent.values()))
        answer = json.dumps({"port": port, "count": self.count, "unsent": unsent}).encode()
        self.head(stream, *([("content-length", str(len(answer)))] if kind == "sized" else []))
        self.body(stream, answer)

    def trailers_path(self, stream, _):
        self.head(stream, ("trailer", "x-checksum"))
        self.h2.send_data(stream, b"body")
        self.h2.send_headers(stream, [("x-checksum", "900150983cd24fb0"), ("grpc-status", "0")], end_stream=True)

    def reset_path(self, stream, code):
        """Sends RST_STREAM after the head and ten bytes of a hundred."""
        self.head(stream, ("content-length", "100"))
        self.h2.send_data(stream, b"0123456789")
        self.h2.reset_stream(stream, int(code))

    def hang_path(self, stream, _):
        """Sends the head and ten bytes of a hundred, and then nothing."""
        self.head(stream, ("content-length", "100"))
        self.h2.send_data(stream, b"0123456789")
        self.hanging = stream

    def open_path(self, stream, length):
        """Sends the head and one byte of `length`, and leaves the stream open."""
        self.head(stream, ("content-length", length))
        self.open, self.rest = stream, int(length) - 1
        self.h2.send_data(stream, b"0")

    def behind_path(self, stream, count):
        """Sends `count` more bytes on the stream of `open_path`, or as many as its window allows, and the answer behind them,
        in one write."""
        count = min(int(count), self.h2.local_flow_control_window(self.open))
        while count > 0:
            size = min(count, self.h2.max_outbound_frame_size)
            count, self.rest = count - size, self.rest - size
            self.h2.send_data(self.open, bytes(size), end_stream=self.rest == 0)
        self.count_path(stream, None)

    def silent_path(self, stream, _):
        """Sends nothing until `resethanging_path`."""
        self.hanging = stream

    def resethanging_path(self, stream, code):
        """Sends RST_STREAM for the stream of `hang_path` or `silent_path`."""
        self.h2.reset_stream(self.hanging, int(code))
        self.count_path(stream, code)

    def wait_path(self, stream, name):
        """Sends nothing until `release_path`, of any connection."""
        WAITING[name] = self, stream

    def release_path(self, stream, name):
        """Sends the answer of `wait_path`, with its length, unless the client has ended that, and then its own."""
        connection, waiting = WAITING.pop(name)
        if not connection.transport.is_closing():
            with contextlib.suppress(h2.exceptions.ProtocolError):
                connection.count_path(waiting, "sized")
                connection.flush()
        self.count_path(stream, name)

    def widen_path(self, stream, rest):
        """Lets the client send more bytes on the stream of `wait_path`, of any connection, and then answers."""
        name, count = rest.split("/")
        connection, waiting = WAITING[name]
        for window in (None, waiting):
            connection.h2.increment_flow_control_window(int(count), window)
        connection.flush()
        self.count_path(stream, name)

    def early_path(self, stream, _):
        """Sends the whole answer before the body of the request has arrived."""
        self.early = stream
        self.count_path(stream, _)

    def partly_path(self, stream, _):
        """Sends the head and ten bytes of a hundred before the body of the request has arrived."""
        self.early = stream
        self.head(stream, ("content-length", "100"))
        self.h2.send_data(stream, b"0123456789")

    def endearly_path(self, stream, code):
        """Sends RST_STREAM for the stream of `early_path` or `partly_path`."""
        self.h2.reset_stream(self.early, int(code))
        self.count_path(stream, code)

    def enough_path(self, stream, _):
        """Sends the whole answer and then RST_STREAM with NO_ERROR (RFC 9113, section 8.1)."""
        self.count_path(stream, _)
        self.h2.reset_stream(stream, 0)

    def refuse_path(self, stream, code):
        """Sends RST_STREAM instead of a head."""
        self.h2.reset_stream(stream, int(code))

    def refuseonce_path(self, stream, name):
        """Sends REFUSED_STREAM (RFC 9113, section 8.7) the first time and a response the second time."""
        if name in REFUSED:
            self.count_path(stream, name)
        else:
            REFUSED.add(name)
            self.h2.reset_stream(stream, 7)

    def goaway_path(self, stream, _):
        """Answers and sends GOAWAY. The connection takes no more requests and stays open until the client closes it."""
        self.count_path(stream, _)
        self.h2.close_connection(last_stream_id=stream)

    def goawayonce_path(self, stream, name):
        """Sends GOAWAY that excludes this stream but not earlier ones the first time, and a response the second time."""
        if name in REFUSED:
            self.count_path(stream, name)
        else:
            REFUSED.add(name)
            self.h2.close_connection(last_stream_id=max(stream - 2, 0))

    def goawaylater_path(self, stream, name):
        """Sends GOAWAY that includes this stream and ends it with INTERNAL_ERROR the first time, and a response the second time."""
        if name in REFUSED:
            self.count_path(stream, name)
        else:
            REFUSED.add(name)
            self.h2.reset_stream(stream, 2)
            self.h2.close_connection(last_stream_id=stream)

    def fields_path(self, stream, size):
        """Answers with a head of about `size` bytes, in fields of a thousand bytes."""
        self.head(stream, *((f"x-field-{number:03}", "a" * 985) for number in range(int(size) // 1000)))
        self.body(stream, b"body")

    def abort_path(self, stream, code):
        """Sends GOAWAY that marks this stream as not processed, and closes the connection."""
        self.h2.close_connection(int(code), last_stream_id=0)
        self.flush()
        self.transport.close()

    def cut_path(self, stream, _):
        """Closes the connection within the body."""
        self.head(stream, ("content-length", "100"))
        self.h2.send_data(stream, b"0123456789")
        self.flush()
        self.transport.close()

    def interim_path(self, stream, _):
        """Sends 103 before the response."""
        self.h2.send_headers(stream, [(":status", "103"), ("link", "</style.css>; rel=preload")])
        self.count_path(stream, _)

    def bytes_path(self, stream, count):
        """Sends `count` bytes: 0 to 250, repeated."""
        self.head(stream)
        self.body(stream, (bytes(range(251)) * (int(count) // 251 + 1))[: int(count)])


async def start(chain_and_key):
    """Starts all servers. Returns their ports by name."""
    tls = context(chain_and_key)
    tls.set_alpn_protocols(["h2"])
    ports = {}
    for name, secure in (("scripts", None), ("scriptsTLS", tls)):
        server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", 0, ssl=secure)
        ports[name] = server.sockets[0].getsockname()[1]
    ports["tls"], ports["plain"] = await start_hypercorn(chain_and_key)
    return ports
