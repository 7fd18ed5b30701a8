"""An HTTP origin whose answers are drawn, and which records each exchange, for scripts/oracles/cache."""
import http.server
import random
import threading
from email.utils import formatdate


class Version:
    """A version of a representation, with its own validators and rules."""

    def __init__(self, number, path, user, language, now, draw):
        self.number, self.user, self.language = number, user, language
        # As long as its number says, so that two versions never have the same bytes.
        self.body = f"{number} {path} {user} {language} ".encode() * (3 + number % 5)
        self.tag = draw.choice([f'"{number}"', f'"{number}"', f'W/"{number}"', None])
        self.changed = int(now) - draw.choice([10, 1000, 100000]) - number if draw.random() < 0.5 else None
        self.age = draw.choice([None, None, None, 3, 40])
        self.late = draw.choice([0, 0, 0, 4])
        rules = {"max-age": draw.choice([None, None, 0, 2, 10, 60, 600, 86400])}
        for name, odds in [("no-cache", 0.08), ("no-store", 0.08), ("must-revalidate", 0.15), ("private", 0.1)]:
            if draw.random() < odds:
                rules[name] = True
        for name in ["stale-while-revalidate", "stale-if-error"]:
            if draw.random() < 0.3:
                rules[name] = draw.choice([0, 5, 60, 600])
        self.rules = {name: value for name, value in rules.items() if value is not None}
        self.expires = draw.choice([None, None, None, -5, -5, 5, 100])

    def __repr__(self):
        return f"version {self.number} with {self.rules}, Expires {self.expires}, Age {self.age}, {self.late} s late"

    def fields(self, now):
        control = ", ".join(name if value is True else f"{name}={value}" for name, value in self.rules.items())
        date = now - self.late
        shown = {"Cache-Control": control or None, "ETag": self.tag, "Age": self.age, "Date": formatdate(date, usegmt=True)}
        shown["Expires"] = None if self.expires is None else formatdate(date + self.expires, usegmt=True)
        shown["Last-Modified"] = None if self.changed is None else formatdate(self.changed, usegmt=True)
        return {name: str(value) for name, value in shown.items() if value is not None}

    def lifetime(self, now):
        """Returns the freshness lifetime in seconds (RFC 9111 §4.2.1, and 10 % of §4.2.2)."""
        if "no-cache" in self.rules:
            return 0
        if "max-age" in self.rules:
            return self.rules["max-age"]
        if self.expires is not None:
            return self.expires
        return min(86400, (now - self.late - self.changed) / 10) if self.changed is not None else 0


class Origin:
    """Serves from entry to exit. `exchanges` has one record for each exchange, whose index is its X-Serial."""

    def __init__(self, seed):
        self.draw, self.lock = random.Random(seed), threading.Lock()
        self.versions, self.current, self.exchanges, self.failing = [], {}, [], 0

    def __enter__(self):
        origin = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def answer(self):
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                origin.answer(self)

            do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = answer

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}/"

    def varies(self, path):
        return int(path) % 3 == 0

    def version(self, path, user, language, now, is_new):
        key = path, user, language
        if is_new or key not in self.current:
            self.versions.append(Version(len(self.versions), *key, now, self.draw))
            self.current[key] = self.versions[-1]
        return self.current[key]

    def answer(self, handler):
        path, sent, now = handler.path[1:], handler.headers, int(handler.headers["X-Correlation-ID"])
        method, user = handler.command, sent["X-User"]
        language = sent.get("Accept-Language", "-") if self.varies(path) else "-"
        with self.lock:
            if method not in ("GET", "HEAD"):
                for key in [key for key in self.current if key[0] == path]:
                    del self.current[key]
            version = self.version(path, user, language, now, self.draw.random() < 0.08)
            if not self.failing and self.draw.random() < 0.02:
                self.failing = self.draw.randrange(1, 6)
            fault = None
            if self.failing:
                self.failing -= 1
                fault = self.draw.choice(["503", "cut"] if method == "GET" else ["503"])
            status, fields, body = self.respond(method, sent, version, now, fault)
            serial = len(self.exchanges)
            fields |= {"X-Serial": str(serial), "Content-Length": str(len(body))}
            if self.varies(path):
                fields["Vary"] = "Accept-Language"
            self.exchanges.append({
                "serial": serial, "number": int(sent["X-Request-ID"]), "method": method, "path": path, "user": user,
                "language": language, "status": None if fault == "cut" else status, "version": version, "time": now,
                "no-store": "no-store" in (sent.get("Cache-Control") or ""),
            })
        handler.send_response_only(status)
        for name, value in fields.items():
            if not (status == 304 and name == "Content-Length"):
                handler.send_header(name, value)
        handler.end_headers()
        if method != "HEAD" and status != 304:
            handler.wfile.write(body[:10] if fault == "cut" else body)
        handler.close_connection |= fault == "cut"

    def respond(self, method, sent, version, now, fault):
        if fault == "503":
            return 503, {"Date": formatdate(now, usegmt=True)}, b"failed"
        if method not in ("GET", "HEAD"):
            return 200, {"Date": formatdate(now, usegmt=True)}, b"done"
        fields, body = version.fields(now), version.body
        tags, since = sent.get("If-None-Match"), sent.get("If-Modified-Since")
        if fault != "cut":
            bare = [tag.strip().removeprefix("W/") for tag in (tags or "").split(",")]
            if tags and version.tag and version.tag.removeprefix("W/") in bare:
                return 304, fields, b""
            if not tags and since and since == fields.get("Last-Modified"):
                return 304, fields, b""
        first, last = span(sent.get("Range"), len(body))
        if_range = sent.get("If-Range")
        is_right = if_range is None or if_range == version.tag and not version.tag.startswith("W/")
        if method == "GET" and first is not None and is_right and fault != "cut":
            fields["Content-Range"] = f"bytes {first}-{last}/{len(body)}"
            return 206, fields, body[first:last + 1]
        return 200, fields, body


def span(field, length):
    """Returns the first and the last byte of a single range (RFC 9110 §14.1.2), or None twice."""
    if not field or "," in field:
        return None, None
    first, last = field.removeprefix("bytes=").split("-")
    if not first:
        return max(0, length - int(last)), length - 1
    return int(first), min(length - 1, int(last)) if last else length - 1
