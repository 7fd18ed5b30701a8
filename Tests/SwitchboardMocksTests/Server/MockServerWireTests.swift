import Foundation
import Switchboard
@testable import SwitchboardMocks
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// The server's bytes on a raw socket.
@Suite(.timeLimit(.minutes(10)))
struct MockServerWireTests {
    private let get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
    private let last = "GET /last HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"

    @Test("an answer has exactly the scripted bytes")
    func exactBytes() async throws {
        try await MockServer.run { server in
            server.enqueue(.status(299))
            let (text, end) = try RawClient(port: server.port).send(last).readAll()
            #expect(text == "HTTP/1.1 299 \r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            #expect(end == .closed)
        }
    }

    @Test("pipelined requests are answered in order")
    func pipelining() async throws {
        try await MockServer.run { server in
            server.enqueue(.text("1").delayed(by: .milliseconds(20)), .text("2").chunked(1), .text("3"))
            let post = "POST /2 HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody"
            let (text, _) = try RawClient(port: server.port).send(get + post + last).readAll()
            let bodies = text.components(separatedBy: "HTTP/1.1 200 OK\r\n").map {
                $0.components(separatedBy: "\r\n\r\n")
            }
            #expect(bodies.dropFirst().map { $0[1] } == ["1", "1\r\n2\r\n0", "3"])
            #expect(server.requests.map(\.target) == ["/", "/2", "/last"])
            #expect(server.requests.map(\.text) == ["", "body", ""])
            #expect(server.requests.map(\.index) == [0, 1, 2])
        }
    }

    @Test("a request may arrive byte by byte")
    func byteByByte() async throws {
        try await MockServer.run { server in
            server.enqueue(.text("ok"))
            let client = try RawClient(port: server.port)
            let request =
                "\r\nPOST /p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
                + "2;name=\"v\"\r\nab\r\n0a \r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\n"
            for character in request { client.send(String(character)) }
            #expect(client.readAll().text.hasSuffix("ok"))
            let seen = try await server.takeRequest()
            #expect(seen.text == "ab0123456789")
            #expect(seen.trailers == ["X-Sum": "1"])
            #expect(seen.head.starts(with: Data("POST /p ".utf8)))
        }
    }

    @Test("100 Continue is sent before the body is read")
    func expectContinue() async throws {
        try await MockServer.run { server in
            server.enqueue(.text("done"))
            let client = try RawClient(port: server.port)
            client.send(
                "PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\n")
            #expect(client.read(through: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
            #expect(server.requests.isEmpty)
            #expect(client.send("hi").readAll().text.hasSuffix("\r\n\r\ndone"))
            #expect(server.requests.map(\.text) == ["hi"])
        }
    }

    @Test("without a response, the answer is a 404 that says so")
    func emptyQueue() async throws {
        try await MockServer.run { server in
            let (text, _) = try RawClient(port: server.port).send(last).readAll()
            #expect(text.hasPrefix("HTTP/1.1 404 Not Found\r\n"))
            #expect(text.hasSuffix("\r\n\r\nMockServer: nothing was enqueued for GET /last\n"))
        }
    }

    @Test("the queue answers before the handler")
    func queueBeforeHandler() async throws {
        try await MockServer.run { request in
            .text("handled \(request.path)")
        } body: { server in
            server.enqueue(.text("queued"))
            for text in ["queued", "handled /last"] {
                let client = try RawClient(port: server.port).send(last)
                #expect(client.readAll().text.hasSuffix("\r\n\r\n\(text)"))
            }
        }
    }

    @Test(
        "an invalid request is refused and its connection closed",
        arguments: [
            ("nonsense\r\n\r\n", 400), ("GET / HTTP/1.1\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
            ("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: u:p@h\r\n\r\n", 400),
            ("GET / HTTP/1.0\r\nHost: a,b c\r\n\r\n", 400), ("GET a HTTP/1.1\r\nHost: h\r\n\r\n", 400),
            ("GET /a#b HTTP/1.1\r\nHost: h\r\n\r\n", 400),
            ("GET  / HTTP/1.1\r\nHost: h\r\n\r\n", 400), ("GET / HTTP/1.1\nHost: h\n\n", 400),
            ("GET / HTTP/2.0\r\nHost: h\r\n\r\n", 505),
            ("GET /ä HTTP/1.1\r\nHost: h\r\n\r\n", 400), ("G@T / HTTP/1.1\r\nHost: h\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: h\r\nA : b\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: h\r\nA: b\r\n c\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: h\r\nA: \u{0}\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: h\r\nno colon\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length:\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\n", 413),
            ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\nExpect: 100-continue\r\n\r\n", 413),
            ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
            ("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1 x\r\na\r\n0\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1;\u{1}\r\na\r\n0\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n", 413),
            ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\n", 413),
            ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n", 413),
            ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nbad\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: h\r\nExpect: miracles\r\n\r\n", 417),
            ("GET / HTTP/1.1\r\nHost: h\r\nA: \(String(repeating: "a", count: 2_000))\r\n\r\n", 431),
            ("GET /\(String(repeating: "a", count: 2_000))", 431), ("\u{16}\u{3}\u{1}", 400),
        ])
    func invalidRequests(request: String, status: Int) async throws {
        try await MockServer.run(headLimit: 1_000, bodyLimit: 1_000) { server in
            server.enqueue(.text("not for this one"))
            let client = try RawClient(port: server.port)
            let text = client.send(request).read(through: "\n\n")
            client.endSending()
            #expect(text.hasPrefix("HTTP/1.1 \(status) "))
            #expect(server.requests.isEmpty)
            let fault = "a request on connection 1 was refused with \(status): "
            let isFault = server.faults.contains { $0.hasPrefix(fault) }
            #expect(isFault == (status != 413 && status != 431))
        }
    }

    @Test(
        "each form of a target and of a host is accepted",
        arguments: [
            ("GET /a?b=c:/d", "h"), ("GET http://h/a?b", "h"), ("GET http://h", "h"), ("OPTIONS *", "h"),
            ("CONNECT h:80", "h:80"), ("CONNECT [::1]:80", "[::1]:80"), ("GET //a", ""), ("GET /", "h:"),
            ("GET /", "a_b-c.d~e!$&'()*+,;=%41:1"), ("GET /", "[v1.a:b]"),
        ])
    func targets(line: String, host: String) async throws {
        try await MockServer.run { server in
            server.enqueue(.text("ok"))
            let client = try RawClient(port: server.port)
            client.send("\(line) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
            #expect(client.readAll().text.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(server.requests.map { "\($0.method) \($0.target)" } == [line])
        }
    }

    @Test("a script ends at its first end")
    func scriptEnd() async throws {
        try await MockServer.run { server in
            server.enqueue(.script(.send("a"), .close, .send("b"), .keepAlive))
            let (text, end) = try RawClient(port: server.port).send(last).readAll()
            #expect(text == "a")
            #expect(end == .closed)
        }
    }

    @Test("a chunk larger than any limit is refused")
    func largestChunk() async throws {
        try await MockServer.run(bodyLimit: .max) { server in
            let head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
            let client = try RawClient(port: server.port).send(head + "1\r\na\r\n7fffffffffffffff\r\n")
            client.endSending()
            #expect(client.readAll().text.hasPrefix("HTTP/1.1 413 "))
        }
    }

    @Test("a refusal reaches a client that is still sending")
    func refusalWhileSending() async throws {
        try await MockServer.run(bodyLimit: 10) { server in
            let head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 300000\r\n\r\n"
            let client = try RawClient(port: server.port).send(head).send(Data(count: 300_000))
            let (text, end) = client.readAll()
            #expect(text.hasPrefix("HTTP/1.1 413 Content Too Large\r\n"))
            #expect(text.hasSuffix("the body has more than 10 bytes\n"))
            #expect(end == .closed)
        }
    }

    @Test("no chunk follows a head without body", arguments: [("HEAD", 200), ("GET", 204), ("GET", 304)])
    func noChunksWithoutBody(method: String, status: Int) async throws {
        try await MockServer.run { server in
            server.enqueue(.text("abc", statusCode: status).chunked(1))
            let request = "\(method) / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
            let (text, end) = try RawClient(port: server.port).send(request).readAll()
            #expect(text.hasSuffix("\r\nConnection: close\r\n\r\n"))
            #expect(text.contains("Transfer-Encoding: chunked\r\n") == (status == 200))
            #expect(end == .closed)
        }
    }

    @Test("a 2xx to CONNECT has no body and no length, and others have both")
    func connect() async throws {
        try await MockServer.run { server in
            server.enqueue(.text("no"), .text("no").chunked(1), .text("no", statusCode: 407), .text("next"))
            let connect = "CONNECT h:80 HTTP/1.1\r\nHost: h:80\r\n\r\n"
            let text = try RawClient(port: server.port).send(connect + connect + connect + last).readAll().text
            let type = "Content-Type: text/plain; charset=utf-8\r\n"
            let tunnel = "HTTP/1.1 200 OK\r\n\(type)\r\n"
            let refusal = "HTTP/1.1 407 Proxy Authentication Required\r\n\(type)Content-Length: 2\r\n\r\nno"
            #expect(text.hasPrefix(tunnel + tunnel + refusal + "HTTP/1.1 200 OK\r\n"))
            #expect(text.hasSuffix("\r\n\r\nnext"))
        }
    }

    @Test("chunks beside a scripted length have no framing, as for HTTP/1.0")
    func chunksWithLength() async throws {
        try await MockServer.run { server in
            server.enqueue(
                .text("ab", headers: ["Content-Length": "2"]).paced(every: .zero),
                .text("abc", headers: ["Content-Length": "9"]).chunked(1), .text("abc").chunked(1))
            let answers = try [last, last, "GET / HTTP/1.0\r\n\r\n"].map {
                try RawClient(port: server.port).send($0).readAll().text
            }
            #expect(answers[0].hasSuffix("\r\n\r\nab") && answers[1].hasSuffix("\r\n\r\nabc"))
            #expect(answers[1].contains("Content-Length: 9\r\n"))
            #expect(answers[2].hasPrefix("HTTP/1.1 200 OK\r\n") && answers[2].hasSuffix("\r\n\r\nabc"))
            #expect(!answers.joined().contains("chunked"))
        }
    }

    @Test("trailers replace a scripted length, because only chunks have them")
    func trailersWithLength() async throws {
        try await MockServer.run { server in
            var response = MockResponse.text("ab", headers: ["Content-Length": "2"])
            response.trailers = ["X-Sum": "1"]
            server.enqueue(response)
            let text = try RawClient(port: server.port).send(last).readAll().text
            #expect(text.contains("Transfer-Encoding: chunked\r\n") && !text.contains("Content-Length"))
            #expect(text.hasSuffix("\r\n\r\n2\r\nab\r\n0\r\nX-Sum: 1\r\n\r\n"))
        }
    }

    @Test("a WebSocket with an invalid field is a 500 that keeps the connection")
    func invalidWebSocketHeader() async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.text("a"), headers: ["X": "a\r\nb"]), .text("next"))
            let text = try RawClient(port: server.port).send(get + last).readAll().text
            #expect(text.hasPrefix("HTTP/1.1 500 ") && text.hasSuffix("\r\n\r\nnext"))
            #expect(server.requests.count == 2)
        }
    }

    @Test("a scripted field with a line break is a 500 that says so")
    func invalidHeader() async throws {
        try await MockServer.run { server in
            server.enqueue(.status(200, headers: ["X-Mark": "a\r\nSet-Cookie: b=1"]))
            let (text, _) = try RawClient(port: server.port).send(last).readAll()
            #expect(text.hasPrefix("HTTP/1.1 500 "))
            #expect(text.contains("X-Mark"))
            #expect(!text.contains("Set-Cookie"))
        }
    }

    @Test("a throttled body waits before each piece, not after the last one")
    func throttledSteps() {
        let throttled = WireResponse(.data(Data([1, 2])).throttled(bytesPerSecond: 1), to: nil)
        let second = MockResponse.Step.pause(.seconds(1))
        let body: [MockResponse.Step] = [second, .send(Data([1])), second, .send(Data([2]))]
        #expect(Array(throttled.steps.dropFirst()) == body)
    }

    @Test("a dripping answer waits between two bytes only")
    func drippingSteps() {
        let second = MockResponse.Step.pause(.seconds(1))
        let script = MockResponse.script(second, .send("a"), .send(""), .send("bc"), second, .keepAlive)
        let dripping = WireResponse(script.dripping(every: .seconds(2)), to: nil)
        let pause = MockResponse.Step.pause(.seconds(2))
        let steps: [MockResponse.Step] = [
            second, .send("a"), pause, .send("b"), pause, .send("c"), second,
        ]
        #expect(dripping.steps == steps)
    }

    @Test("a reset is a TCP RST")
    func reset() async throws {
        try await MockServer.run { server in
            server.enqueue(.reset, .close)
            for end in [RawClient.End.reset, .closed] {
                let client = try RawClient(port: server.port).send(get)
                #expect(client.readAll() == ("", end))
            }
        }
    }

    @Test("scripted framing fields are sent unchanged")
    func ownFraming() async throws {
        try await MockServer.run { server in
            server.enqueue(.status(200, headers: ["Content-Length": "3"], body: Data("abcdef".utf8)))
            let (text, _) = try RawClient(port: server.port).send(last).readAll()
            #expect(text == "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabcdef")
        }
    }
}
