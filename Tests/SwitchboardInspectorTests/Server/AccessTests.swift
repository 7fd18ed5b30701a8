import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@testable import SwitchboardInspector

/// Attacks on the server of the page.
@Suite(.timeLimit(.minutes(10)))
struct AccessTests {
    /// Creates an inspector with one call.
    private func inspector(
        _ times: InspectorServer.Times = InspectorServer.Times()
    ) async throws -> NetworkInspector {
        let inspector = try NetworkInspector(CallLimits(), times)
        let router = Router<URLEndPoint>(session: StubSession { _ in .text("found") }, monitors: [inspector])
        _ = try await router.data(from: URL(text: "https://api.example.com/private"))
        return inspector
    }

    @Test("a request without the right key gets 403 and nothing else")
    func key() async throws {
        let inspector = try await inspector()
        let page = try Page(inspector)
        let wrong = String(page.key.dropLast()) + (page.key.last == "A" ? "B" : "A")
        let cookies = [
            "Cookie: switchboard-inspector-\(page.port)=\(wrong)", "Cookie: switchboard-inspector-1=\(page.key)",
            "Cookie: key=\(page.key)", "Cookie: switchboard-inspector-\(page.port)=", "X-Cookie: \(page.key)",
        ]
        for path in ["/", "/calls", "/calls/1", "/har", "/nothing"] {
            for fields in [[]] + cookies.map({ [$0] }) {
                let reply = try page.send("GET \(path)", [page.host] + fields)
                #expect(reply.status == 403, "\(path) \(fields)")
                #expect(!reply.head.contains(page.key) && !reply.body.contains("private"))
            }
        }
        for query in ["key=", "key=\(wrong)", "key=\(page.key)A", "key=\(page.key.dropLast())", "k=\(page.key)", "key"]
        {
            let reply = try page.send("GET /?\(query)", [page.host])
            #expect(reply.status == 403 && !reply.head.contains("Set-Cookie"), "\(query)")
        }
        #expect(try page.send("DELETE /calls", [page.host]).status == 403)
        #expect(try page.get("/calls/1").status == 200)
        withExtendedLifetime(inspector) {}
    }

    @Test("the printed URL sets a cookie, which opens the page")
    func cookie() async throws {
        let inspector = try await inspector()
        let page = try Page(inspector)
        #expect(page.key.utf8.count == 32)
        let first = try page.send("GET /?key=\(page.key)", [page.host, "Sec-Fetch-Site: none"])
        let location = try #require(first.head.components(separatedBy: "\r\nLocation: ").last?.prefix { $0 != "\r\n" })
        #expect(first.status == 303 && location.utf8.count == 34 && location.hasPrefix("/") && location.hasSuffix("/"))
        #expect(!location.contains(page.key))
        let name = "switchboard-inspector-\(page.port)"
        let attributes = "HttpOnly; SameSite=Strict; Path=\(location)"
        #expect(first.head.hasSuffix("\r\nSet-Cookie: \(name)=\(page.key); \(attributes)"))
        for (site, path) in [("none", "\(location)"), ("same-origin", "\(location)calls/1"), ("none", "/")] {
            let reply = try page.send(
                "GET \(path)", [page.host, "Cookie: a=b; \(name)=\(page.key)", "Sec-Fetch-Site: \(site)"])
            #expect(reply.status == 200 && reply.body.hasPrefix(path.hasSuffix("1") ? "{" : "<!doctype html>"))
        }
        withExtendedLifetime(inspector) {}
    }

    @Test("the key does not help another host name, origin or site")
    func elsewhere() async throws {
        let inspector = try await inspector()
        let page = try Page(inspector)
        let hosts = [
            "evil.example:\(page.port)", "127.0.0.1", "127.0.0.1:1", "localhost", "127.0.0.1.evil.example:\(page.port)",
            "[::1]:\(page.port)", "user@127.0.0.1:\(page.port)", "LOCALHOST.:\(page.port)",
        ]
        let fields =
            hosts.map { ["Host: \($0)"] }
            + [
                "http://evil.example", "null", "https://127.0.0.1:\(page.port)", "http://127.0.0.1",
                "http://localhost:\(page.port)",
            ]
            .map { [page.host, "Origin: \($0)"] }
            + ["cross-site", "same-site", "evil"].map { [page.host, "Sec-Fetch-Site: \($0)"] }
            + [[page.host, "Origin: http://127.0.0.1:\(page.port)", "Origin: http://evil.example"]]
        for fields in fields {
            // A host with a user is no Host (RFC 9112, section 3.2).
            let status = fields[0].contains("@") ? 400 : 403
            for line in ["GET /", "GET /calls/1", "GET /har", "DELETE /calls", "GET /?key=\(page.key)"] {
                let reply = try page.send(line, fields + [page.cookie])
                #expect(reply.status == status, "\(line) \(fields)")
                #expect(!reply.head.contains(page.key) && !reply.body.contains("private"))
            }
        }
        #expect(try page.send("GET /calls/1", ["Host: localhost:\(page.port)", page.cookie]).status == 200)
        #expect(
            try page.send("GET /calls/1", [page.host, "Origin: http://127.0.0.1:\(page.port)", page.cookie]).status
                == 200)
        withExtendedLifetime(inspector) {}
    }

    @Test(
        "other methods, paths and heads have the status that HTTP gives them",
        arguments: [
            ("POST /", 405), ("HEAD /", 405), ("PUT /calls", 405), ("DELETE /har", 405), ("POST /calls/1", 405),
            ("OPTIONS /calls", 405), ("GET /nothing", 404), ("GET /calls/99", 404), ("GET /calls/x", 404),
            ("GET /calls/-1", 404), ("GET /calls/99999999999999999999", 404), ("GET /calls/../har", 404),
            ("DELETE /calls", 204), ("GET /har", 200), ("GET", 400), ("G(T /", 400), ("\u{16}\u{3}\u{1}", 400),
        ])
    func statuses(line: String, status: Int) async throws {
        let inspector = try await inspector()
        let page = try Page(inspector)
        let reply = try page.send(line)
        #expect(reply.status == status, "\(reply.body)")
        #expect((reply.status == 405) == reply.head.contains("\r\nAllow: GET"))
        withExtendedLifetime(inspector) {}
    }

    @Test("a long head is refused, and so is a body")
    func sizes() async throws {
        let inspector = try await inspector()
        let page = try Page(inspector)
        let long = String(repeating: "a", count: 20_000)
        #expect(try page.send("GET /", [page.host, "X-Long: \(long)"]).status == 431)
        #expect(try page.send("GET /\(long)", [page.host]).status == 431)
        #expect(try page.send("DELETE /calls", [page.host, page.cookie, "Content-Length: 10"]).status == 413)
        let fields = [page.host, page.cookie, "Transfer-Encoding: chunked"]
        let client = try page.open("DELETE /calls", fields)
        #expect(client.send("a\r\n0123456789\r\n").readAll().text.hasPrefix("HTTP/1.1 413 "))
        #expect(try page.get("/calls/1").status == 200)
        withExtendedLifetime(inspector) {}
    }

    @Test("each answer forbids caches, other types, referrers and origins")
    func securityFields() async throws {
        let inspector = try await inspector()
        let page = try Page(inspector)
        for path in ["/", "/calls/1", "/har", "/nothing", "/?key=x"] {
            let head = try page.get(path).head
            for field in [
                "Cache-Control: no-store", "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer",
                "Cross-Origin-Resource-Policy: same-origin", "Cross-Origin-Opener-Policy: same-origin",
            ] {
                #expect(head.contains("\r\n\(field)"), "\(path)")
            }
        }
        let har = try page.get("/har").head
        #expect(har.contains("\r\nContent-Disposition: attachment; filename=\"switchboard.har\""))
        withExtendedLifetime(inspector) {}
    }

    @Test("each page allows its own style and script by a new nonce")
    func nonce() async throws {
        let inspector = try await inspector()
        let page = try Page(inspector)
        let replies = [try page.get("/"), try page.get("/")]
        let nonces = replies.map { reply in
            reply.head.components(separatedBy: "script-src 'nonce-").last?.prefix { $0 != "'" } ?? ""
        }
        #expect(nonces[0] != nonces[1] && nonces[0].count == 32)
        for (reply, nonce) in zip(replies, nonces) {
            #expect(reply.head.contains("style-src 'nonce-\(nonce)';"))
            #expect(reply.head.contains("\r\nContent-Security-Policy: default-src 'none';"))
            #expect(reply.body.contains("<style nonce=\"\(nonce)\">") && !reply.body.contains("<style>"))
            #expect(reply.body.contains("<script nonce=\"\(nonce)\">") && !reply.body.contains("<script>"))
        }
        withExtendedLifetime(inspector) {}
    }

    @Test("a client that does not finish its request is dropped")
    func slowClient() async throws {
        var times = InspectorServer.Times()
        times.request = .milliseconds(50)
        let inspector = try await inspector(times)
        let page = try Page(inspector)
        let idle = try RawClient(port: page.port)
        let slow = try RawClient(port: page.port).send("GET / HTTP/1.1\r\nHost: ")
        #expect(idle.readAll() == ("", .closed))
        #expect(slow.readAll().text == "")
        withExtendedLifetime(inspector) {}
    }

    @Test("idle connections without the key do not keep the page out")
    func flood() async throws {
        var times = InspectorServer.Times()
        times.request = .seconds(600)
        let inspector = try await inspector(times)
        let page = try Page(inspector)
        let stream = try page.openStream()
        _ = stream.read(through: "\n\n")
        var idle: [RawClient] = []
        for _ in 0..<200 {
            idle.append(try RawClient(port: page.port))
            #expect(inspector.connectionCount <= 2 * InspectorServer.maximumConnections)
        }
        #expect(await comesTrue { (try? page.get("/calls/1").status) == 200 })
        let router = Router<URLEndPoint>(session: StubSession { _ in .text("later") }, monitors: [inspector])
        _ = try await router.data(from: URL(text: "https://api.example.com/later"))
        // A comment may precede the event, because the stream is kept open.
        #expect(stream.read(through: "/later").contains("/later"))
        withExtendedLifetime(idle) {}
    }

    @Test("connections end after a flood of requests without the key")
    func requestsWithoutKey() async throws {
        let inspector = try await inspector()
        let page = try Page(inspector)
        for _ in 0..<300 { #expect(try page.send("GET /calls", [page.host]).status == 403) }
        #expect(await comesTrue { inspector.connectionCount == 0 })
    }

    @Test("stopping ends streams and idle connections, and closes the port")
    func stop() async throws {
        var times = InspectorServer.Times()
        times.request = .seconds(600)
        let isRefused = try await RawClient.isRefused {
            let inspector = try await inspector(times)
            let page = try Page(inspector)
            let stream = try page.openStream()
            let idle = try RawClient(port: page.port)
            #expect(await comesTrue { inspector.connectionCount == 2 })
            inspector.stop()
            inspector.stop()
            #expect(stream.readAll().end != .silent)
            #expect(idle.readAll().end != .silent)
            #expect(inspector.connectionCount == 0)
            let router = Router<URLEndPoint>(session: StubSession { _ in .text("") }, monitors: [inspector])
            _ = try await router.data(from: URL(text: "https://api.example.com/after"))
            #expect(inspector.calls.isEmpty)
            return page.port
        }
        #expect(isRefused)
    }

    @Test("the stream says which calls were removed")
    func removal() async throws {
        let inspector = try NetworkInspector(CallLimits(calls: 1))
        let router = Router<URLEndPoint>(session: StubSession { _ in .text("") }, monitors: [inspector])
        _ = try await router.data(from: URL(text: "https://api.example.com/first"))
        let stream = try Page(inspector).openStream()
        #expect(stream.read(through: "\n\n").contains("/first"))
        _ = try await router.data(from: URL(text: "https://api.example.com/second"))
        let text = stream.read(through: "/second")
        #expect(text.contains("event: removed\ndata: {\"ids\":[1]}\n\nevent: call\n"), "\(text)")
    }

    @Test("a released inspector ends, also with stored calls and an open stream")
    func release() async throws {
        var inspector: NetworkInspector? = try await inspector()
        let page = try Page(try #require(inspector))
        let stream = try page.openStream()
        let isReleased = { [weak inspector] in inspector == nil }
        inspector = nil
        #expect(await comesTrue { isReleased() })
        #expect(stream.readAll().end != .silent)
    }

    @Test("an inspector that is off has no URL and stores nothing")
    func off() async throws {
        let inspector = try await NetworkInspector.start(isEnabled: false)
        #expect(inspector.url == nil)
        let router = Router<URLEndPoint>(session: StubSession { _ in .text("") }, monitors: [inspector])
        _ = try await router.data(from: URL(text: "https://api.example.com/"))
        #expect(inspector.calls.isEmpty)
        inspector.stop()
    }
}
