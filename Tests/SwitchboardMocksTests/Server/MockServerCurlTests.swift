import Foundation
import Switchboard
import SwitchboardTesting
import Testing

/// Requests of the curl command to the server.
@Suite(.timeLimit(.minutes(10)), .enabled(if: Curl.isInstalled))
struct MockServerCurlTests {
    @Test("a scripted answer arrives whole")
    func scriptedAnswer() async throws {
        try await MockServer.run { server in
            server.enqueue(.json(#"{"a":1}"#, statusCode: 201, headers: ["X-Mark": "m"]))
            let curl = try await Curl.run("--include", "\(server.url)/x")
            #expect(curl.exit == 0)
            let lines = [
                "HTTP/1.1 201 Created", "Content-Type: application/json", "X-Mark: m", "Content-Length: 7", "",
                #"{"a":1}"#,
            ]
            #expect(curl.text == lines.joined(separator: "\r\n"))
        }
    }

    @Test("two requests share a connection")
    func keepAlive() async throws {
        try await MockServer.run { server in
            server.enqueue(.text("one"), .text("two"))
            let curl = try await Curl.run("\(server.url)/1", "\(server.url)/2", "--write-out", " %{num_connects};")
            #expect(curl.text == "one 1;two 0;")
            #expect(server.connectionCount == 1)
            #expect(server.requests.map(\.target) == ["/1", "/2"])
            #expect(server.requests.map(\.connection) == [1, 1])
            #expect(server.requests.map(\.index) == [0, 1])
        }
    }

    @Test("Connection: close is sent and obeyed")
    func connectionClose() async throws {
        try await MockServer.run { server in
            server.enqueue(.text("one", headers: ["Connection": "close"]), .text("two"))
            let curl = try await Curl.run("\(server.url)/1", "\(server.url)/2", "--write-out", " %{num_connects};")
            #expect(curl.text == "one 1;two 1;")
            #expect(server.requests.map(\.connection) == [1, 2])
        }
    }

    @Test("a client joins the chunks of an answer")
    func chunked() async throws {
        try await MockServer.run { server in
            server.enqueue(.text("abcdefghij").chunked(1, 4), .status(200))
            let curl = try await Curl.run("--include", "--raw", "\(server.url)")
            #expect(curl.text.contains("\r\nTransfer-Encoding: chunked\r\n"))
            #expect(curl.text.hasSuffix("\r\n\r\n1\r\na\r\n4\r\nbcde\r\n4\r\nfghi\r\n1\r\nj\r\n0\r\n\r\n"))
        }
        try await MockServer.run { server in
            server.enqueue(.text("abcdefghij").chunked(3), .text("again"))
            let curl = try await Curl.run("\(server.url)/1", "\(server.url)/2")
            #expect(curl.text == "abcdefghijagain")
            #expect(server.connectionCount == 1)
        }
    }

    @Test("the answer to HEAD has the length and no body")
    func head() async throws {
        try await MockServer.run { server in
            server.enqueue(.text("four"), .text("next"))
            let curl = try await Curl.run("--head", "\(server.url)/1", "\(server.url)/2")
            #expect(curl.exit == 0)
            #expect(curl.text.components(separatedBy: "Content-Length: 4\r\n\r\n").count == 3)
            #expect(!curl.text.contains("four"))
            #expect(server.connectionCount == 1)
        }
    }

    @Test("204 and 304 have neither body nor length", arguments: [204, 304])
    func noBodyNoLength(status: Int) async throws {
        try await MockServer.run { server in
            server.enqueue(.text("not sent", statusCode: status), .text("next"))
            let curl = try await Curl.run("--include", "\(server.url)/1", "\(server.url)/2")
            #expect(!curl.text.contains("not sent"))
            #expect(curl.text.components(separatedBy: "Content-Length").count == 2)
            #expect(server.connectionCount == 1)
        }
    }

    /// The exit codes are in the curl manual. The longest time is one that a busy machine needs to receive 50 bytes.
    @Test(
        "curl reports each fault as documented",
        arguments: [
            (MockResponse.truncated(after: 100), 18, 100), (.text("abcdef").truncated(after: 2), 18, 2),
            (.text("abc").truncated(after: 99), 18, 3), (.text("abcdef").chunked(2).truncated(after: 3), 18, 3),
            (.stalled(after: 50), 28, 50), (.stall, 28, 0), (.text("late").delayed(by: .seconds(20)), 28, 0),
            (.close, 52, 0), (.failure(.timedOut), 52, 0), (.reset, 56, 0),
            (.raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"), 0, 2), (.raw("nonsense\r\n\r\n"), 1, 0),
        ])
    func faults(fault: MockResponse, exit: Int, size: Int) async throws {
        try await MockServer.run { server in
            server.enqueue(fault)
            let curl = try await Curl.run(
                "\(server.url)", "--max-time", exit == 28 ? "4" : "120", "--http1.1", "--write-out", " %{size_download}"
            )
            #expect(curl.exit == exit)
            #expect(curl.text.hasSuffix(" \(size)"))
        }
    }

    @Test("a request is recorded byte for byte")
    func recordedBytes() async throws {
        try await MockServer.run { server in
            let url = "\(server.url)/a%20b/c?x=1&y=%2B&x=two+words&flag"
            _ = try await Curl.run(
                url, "--request", "PATCH", "--data-raw", "körper", "--header", "X-Tag: a", "--header", "x-tag:  b ",
                "--user-agent",
                "me", "--header", "Accept:", "--header", "Content-Type: text/plain")
            let request = try await server.takeRequest()
            #expect(request.method == .patch)
            #expect(request.target == "/a%20b/c?x=1&y=%2B&x=two+words&flag")
            #expect(request.path == "/a%20b/c")
            #expect(request.query == "x=1&y=%2B&x=two+words&flag")
            #expect(request.queryItems.map(\.name) == ["x", "y", "x", "flag"])
            #expect(request.queryItems.map(\.value) == ["1", "+", "two words", nil])
            #expect(request.url?.absoluteString == url)
            #expect(request.httpVersion == "HTTP/1.1")
            #expect(request.headers.values(for: "X-TAG") == ["a", "b"])
            #expect(request.text == "körper")
            let lines = [
                "PATCH \(request.target) HTTP/1.1", "Host: 127.0.0.1:\(server.port)", "User-Agent: me", "X-Tag: a",
                "x-tag:  b ",
                "Content-Type: text/plain", "Content-Length: 7", "", "",
            ]
            #expect(String(decoding: request.head, as: UTF8.self) == lines.joined(separator: "\r\n"))
        }
    }

    @Test("an upload arrives whole", arguments: [0, 1, 100_000, 5_000_000])
    func upload(size: Int) async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("upload-\(UUID().uuidString)")
        let bytes = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try bytes.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try await MockServer.run { server in
            server.enqueue(.text("plain"), .text("chunked"), .text("asked"))
            let plain = try await Curl.run("--data-binary", "@\(file.path)", "\(server.url)")
            let chunked = try await Curl.run(
                "--data-binary", "@\(file.path)", "--header", "Transfer-Encoding: chunked", "\(server.url)")
            let asked = try await Curl.run(
                "--upload-file", file.path, "--header", "Expect: 100-continue", "\(server.url)/x")
            #expect([plain, chunked, asked].map(\.text) == ["plain", "chunked", "asked"])
            #expect(server.requests.map(\.body) == [bytes, bytes, bytes])
            #expect(server.requests.map { $0.headers["Transfer-Encoding"] } == [nil, "chunked", nil])
        }
    }

    @Test("a download arrives whole")
    func download() async throws {
        let body = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 17) })
        try await MockServer.run { server in
            server.enqueue(.data(body), .data(body).chunked(10_000))
            let plain = try await Curl.run("\(server.url)")
            let chunked = try await Curl.run("\(server.url)")
            #expect(plain.output == body)
            #expect(chunked.output == body)
        }
    }

    @Test("repeated fields stay separate lines")
    func repeatedFields() async throws {
        try await MockServer.run { server in
            server.enqueue(.status(200, headers: ["Set-Cookie": "a=1", "X": "y", "set-cookie": "b=2"]))
            let curl = try await Curl.run("--include", "\(server.url)")
            #expect(curl.text.hasPrefix("HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nX: y\r\nset-cookie: b=2\r\n"))
        }
    }

    @Test("an HTTP/1.0 client receives no chunks")
    func http10() async throws {
        try await MockServer.run { server in
            server.enqueue(.text("abcdef").chunked(2))
            let curl = try await Curl.run("--http1.0", "--include", "\(server.url)")
            #expect(curl.exit == 0)
            #expect(curl.text.hasSuffix("Connection: close\r\n\r\nabcdef"))
            #expect(!curl.text.contains("chunked"))
        }
    }
}
