"""Receives bodies: `/take` returns their length, `/echo` returns the bytes as they arrive. `body_server.py PORT`

Uses raw sockets, large reads and a thread for each connection, so that it is not slower than the clients under measurement.
"""

import socket
import sys
import threading

BLOCK = 256 << 10


class Connection:
    def __init__(self, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = connection
        self.memory = bytearray(BLOCK)
        self.start = self.end = 0

    def serve(self):
        with self.socket:
            try:
                while self.serve_one():
                    pass
            except (ConnectionError, EOFError):
                pass

    def serve_one(self):
        """Answers a request. Returns False if none arrives."""
        request_line = self.line()
        if not request_line:
            return False
        path = request_line.split(b" ")[1]
        fields = {}
        while line := self.line():
            name, _, value = line.partition(b":")
            fields[name.strip().lower()] = value.strip().lower()
        if fields.get(b"expect") == b"100-continue":
            self.socket.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        length = int(fields[b"content-length"]) if b"content-length" in fields else None
        if path == b"/echo":
            self.echo(length)
        else:
            self.take(length)
        return True

    def take(self, length):
        count = sum(len(block) for block in self.body(length))
        text = str(count).encode()
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % len(text)
        self.socket.sendall(head + text)

    def echo(self, length):
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n"
        if length is not None:
            self.socket.sendall(head + b"Content-Length: %d\r\n\r\n" % length)
            for block in self.body(length):
                self.socket.sendall(block)
            return
        self.socket.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n")
        for block in self.body(None):
            self.socket.sendall(b"%x\r\n" % len(block))
            self.socket.sendall(block)
            self.socket.sendall(b"\r\n")
        self.socket.sendall(b"0\r\n\r\n")

    def body(self, length):
        """Yields the body in blocks. The next block overwrites the previous one."""
        if length is not None:
            yield from self.exactly(length)
            return
        while size := int(self.line().partition(b";")[0], 16):
            yield from self.exactly(size)
            self.line()
        while self.line():
            pass

    def exactly(self, count):
        while count > 0:
            block = self.some(count)
            count -= len(block)
            yield block

    def some(self, most):
        if self.start == self.end:
            self.fill()
        taken = min(most, self.end - self.start)
        self.start += taken
        return memoryview(self.memory)[self.start - taken : self.start]

    def fill(self):
        self.start, self.end = 0, self.socket.recv_into(self.memory)
        if self.end == 0:
            raise EOFError

    def line(self):
        """Returns the next line without its end. Empty for an empty line and for a closed connection."""
        line = bytearray()
        while not line.endswith(b"\n"):
            if self.start == self.end:
                try:
                    self.fill()
                except EOFError:
                    return b""
            end = self.memory.find(b"\n", self.start, self.end)
            stop = self.end if end < 0 else end + 1
            line += self.memory[self.start : stop]
            self.start = stop
        return bytes(line).rstrip(b"\r\n")


def main():
    with socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=128) as server:
        while True:
            connection, _ = server.accept()
            threading.Thread(target=Connection(connection).serve, daemon=True).start()


if __name__ == "__main__":
    main()
