"""Serves HTTP/1.1 over TLS of every kind and on unix sockets. Responses describe the connection and the request.

Uses threads, because an asyncio server closes a failed handshake without the alert with the reason (RFC 8446, section 6.2).
"""
import contextlib
import http.server
import json
import socket
import socketserver
import ssl
import threading


def context(chain_and_key, **settings):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(*chain_and_key)
    made.set_alpn_protocols(["http/1.1"])
    for name, value in settings.items():
        setattr(made, name, value)
    return made


def requiring_client(chain_and_key, authority, **settings):
    made = context(chain_and_key, verify_mode=ssl.CERT_REQUIRED, **settings)
    made.load_verify_locations(authority)
    return made


def limited_to(chain_and_key, version):
    made = context(chain_and_key, maximum_version=version)
    if version < ssl.TLSVersion.TLSv1_2:
        made.minimum_version = version
        made.set_ciphers("ALL:@SECLEVEL=0")  # OpenSSL 3 requires this for TLS 1.1
    return made


def linger(connection):
    """Reads to the end before the socket closes. With unread bytes the connection would be reset and the alert lost."""
    connection.settimeout(5)
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(1 << 16):
            pass


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60

    def setup(self):
        if self.server.tls:
            plain = self.request.dup()
            try:
                self.request = self.server.tls.wrap_socket(self.request, server_side=True)
            except ssl.SSLError:
                linger(plain)
                raise
        super().setup()

    def answer(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        tls = self.request if self.server.tls else None
        subject = (tls.getpeercert() or {}).get("subject", ()) if tls else ()
        seen = {
            "line": self.requestline,
            "host": self.headers["Host"],
            "authorization": self.headers["Authorization"],
            "proxyAuthorization": self.headers["Proxy-Authorization"],
            "peer": self.client_address[0] if self.client_address else None,
            "tls": tls.version() if tls else None,
            "client": dict(pair for part in subject for pair in part).get("commonName"),
        }
        body = json.dumps(seen).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = answer

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address, tls=None, family=socket.AF_INET):
        self.tls, self.address_family = tls, family
        super().__init__(address, Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        pass  # the client refused the server or was refused


def port(tls=None):
    return Server(("127.0.0.1", 0), tls).server_address[1]


def port_of_both_families():
    """Serves the same port on 127.0.0.1 and ::1 and returns it, or None without IPv6."""
    for _ in range(50):
        server = Server(("127.0.0.1", 0))
        try:
            Server(("::1", server.server_address[1]), family=socket.AF_INET6)
            return server.server_address[1]
        except OSError as error:
            server.shutdown()
            server.server_close()
            last = error
    print("no IPv6 on loopback:", last)
    return None


def start(certificates, folder, sockets):
    """Starts all servers. Returns their entries for servers.json."""
    good, authority = certificates["good"], str(folder / "authority.pem")
    contexts = {kind: context(files) for kind, files in certificates.items()}
    for number in (1, 2, 3):
        contexts[f"tls1.{number}"] = limited_to(good, getattr(ssl.TLSVersion, f"TLSv1_{number}"))
    contexts["client"] = requiring_client(good, authority)
    contexts["client-tls1.2"] = requiring_client(good, authority, maximum_version=ssl.TLSVersion.TLSv1_2)
    paths = {"plain": str(sockets / "plain"), "tls": str(sockets / "tls")}
    Server(paths["plain"], family=socket.AF_UNIX)
    Server(paths["tls"], contexts["good"], socket.AF_UNIX)
    return {
        "tls": {name: port(tls) for name, tls in contexts.items()},
        "plain": port(),
        "bothFamilies": port_of_both_families(),
        "unixSockets": paths,
    }
