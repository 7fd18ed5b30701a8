#if os(Linux)
import Foundation
import SwitchboardTesting
import Testing

import SwitchboardTestSupport
@testable import Switchboard

/// Lines of a head become header fields, and a URL becomes the target of a request.
@Suite(.timeLimit(.minutes(10)))
struct CurlHeadTests {
    @Test("a value's bytes arrive as sent, with blanks for CR and NUL")
    func bytesOfValues() {
        var wrong: [String] = []
        for byte in UInt8.min...UInt8.max where byte != 0x0A {
            for length in 3...20 {
                for place in 1..<length - 1 {
                    var value = [UInt8](repeating: UInt8(ascii: "v"), count: length)
                    value[place] = byte
                    let headers = HTTPHeaders(lines: Array("X-Name: ".utf8) + value + Array("\r\n".utf8))
                    // A single byte of 0x80 or more is not UTF-8.
                    // RFC 9110 §5.5: a recipient rejects CR and NUL, or replaces them.
                    let isReplaced = byte == 0x0D || byte == 0
                    if isReplaced { value[place] = 0x20 }
                    let text = String(String.UnicodeScalarView(value.map { Unicode.Scalar($0) }))
                    let isBroken = byte < 0x20 && byte != 0x09 && !isReplaced || byte == 0x7F
                    if headers.first?.value != text || ((try? headers.validate()) == nil) != isBroken {
                        wrong.append("\(byte) at \(place) of \(length)")
                    }
                }
            }
        }
        #expect(wrong == [])
    }

    @Test("a CR or NUL at an end of a value is removed like a blank", arguments: ["\rv", "\0 \rv\r\0", " \0v \r"])
    func endsOfValues(value: String) {
        // RFC 9112 §2.2: a recipient may replace a bare CR with a blank, before it reads the field.
        #expect(HTTPHeaders(lines: Array("X-Name:\(value)\r\n".utf8)).first?.value == "v")
    }

    // curl 7.88 requests /caf%e9 after a Location of these bytes.
    @Test("a Location in ISO 8859-1 leads to its bytes, one in UTF-8 to its text")
    func bytesOfLocation() async throws {
        let (end, head) = (
            Data("\r\nContent-Length: 0\r\n\r\n".utf8), Data("HTTP/1.1 302 Found\r\nLOCATION: /caf".utf8)
        )
        try await MockServer.run { server in
            server.enqueue(
                .raw(head + [0xE9, 0x3F, 0xFC, 0x20, 0x25, 0x32, 0x30] + end), .raw(head + Data("é".utf8) + end),
                .text("end"))
            let router = Router<URLEndPoint>(session: CurlSession())
            _ = try await router.response(for: URLEndPoint(.get, server.url))
            #expect(server.requests.map(\.target) == ["/", "/caf%E9?%FC%20%20", "/caf%C3%A9"])
        }
    }

    @Test("the folded lines of a line without a colon are ignored with it")
    func foldsWithoutField() {
        let lines = "A: a\r\n b\r\nno field\r\n c\r\n\td\r\nE: e\r\n f\r\n"
        #expect(HTTPHeaders(lines: Array(lines.utf8)) == ["A": "a b", "E": "e f"])
    }

    @Test(
        "common names and values arrive as sent, in any case",
        arguments: [
            "Content-Encoding: gzip", "content-encoding: gzip", "CONTENT-ENCODING: gzip",
            "Content-Type: application/json", "Content-Type: Application/JSON",
            "Content-Type: application/json; charset=utf-8", "access-control-allow-origin: *",
            "Strict-Transport-Security: max-age=31536000; includeSubDomains; preload",
            "X-A-Name-That-Is-Longer-Than-All-That-Are-Common-In-Heads: value", "a: b",
        ])
    func commonTexts(line: String) throws {
        let field = try #require(HTTPHeaders(lines: Array("\(line)\r\n".utf8)).first)
        #expect("\(field.name): \(field.value)" == line)
    }

    @Test("a field is sent with its own bytes after a canonically equivalent one")
    func equivalentFields() async throws {
        try await MockServer.run { server in
            let session = CurlSession()
            let names = ["caf\u{E9}", "cafe\u{301}", "caf\u{E9}"]
            for name in names {
                server.enqueue(.status(200))
                _ = try await session.send(NetworkRequest(.get, server.url, headers: ["X-Name": name]))
            }
            #expect(server.requests.map { Array(($0.headers["X-Name"] ?? "").utf8) } == names.map { Array($0.utf8) })
        }
    }

    @Test("a CR in a value is a blank over the wire")
    func bareCR() async throws {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Name: a\rSet-Cookie: b\rc\r\nX-Last: d\r\r\n\r\nok"
        try await RawServer.run {
            try $0.answerAll(answer)
        } body: { server in
            let response = try await CurlSession().send(NetworkRequest(.get, server.url))
            #expect(response.headers["X-Name"] == "a Set-Cookie: b c")
            #expect(response.headers["X-Last"] == "d")
        }
    }

    /// Checks a line that libcurl 7.83 to 8.1 joins to a header field of the last response, which it has freed.
    @Test("a head that begins with a folded line does not end the process")
    func foldedFirstLine() async throws {
        try await MockServer.run { server in
            let session = CurlSession()
            for _ in 0..<10 {
                server.enqueue(
                    .text("ok", headers: ["X-Long": "a value that is kept for a while"]),
                    .raw("HTTP/1.1 200 OK\r\n folded: x\r\nContent-Length: 2\r\n\r\nhi"))
                let plain = try await session.send(NetworkRequest(.get, server.url))
                #expect(plain.text == "ok")
                do {
                    #expect(try await session.send(NetworkRequest(.get, server.url)).text == "hi")
                } catch let error as NetworkError {
                    #expect(error.code == .invalidResponse)
                }
                // libcurl has freed the fields of the last response, and this head has none.
                server.enqueue(.raw("HTTP/1.1 204 No Content\r\n\r\n"))
                let empty = try await session.send(NetworkRequest(.get, server.url))
                #expect(empty.headers.isEmpty && empty.body.isEmpty)
            }
        }
    }

    @Test("lines end at a line feed or the head's end; bad names are invalid")
    func lines() throws {
        let headers = HTTPHeaders(lines: Array("A: 1\nB:2\r\n no name\r\nC:\t 3 \t".utf8))
        #expect(headers.map(\.name) == ["A", "B", "C"])
        #expect(headers.map(\.value) == ["1", "2 no name", "3"])
        try headers.validate()
        for line in ["A B: 1", ": 1", "A\u{0}: 1", "Ä: 1"] {
            #expect(throws: NetworkError.self) { try HTTPHeaders(lines: Array(line.utf8)).validate() }
        }
    }

    @Test("heads that share fields with the last head have their own fields")
    func knownHeads() throws {
        let lines = [
            "A: 1\r\n", "A: 12\r\n", "a: 1\n", "Date: Fri, 21 Nov 2025 14:00:00 GMT\r\n", "X-Name: caf\u{E9}\r\n",
            " folded\r\n", "no colon\r\n", "bad name: 1\r\n", "C:\t\r\n",
        ]
        var known = KnownHead()
        var generator = SeededGenerator(seed: 17)
        for _ in 0..<2_000 {
            var head = ""
            for _ in 0..<Int.random(in: 0...5, using: &generator) {
                head += lines[Int.random(in: lines.indices, using: &generator)]
            }
            if Bool.random(using: &generator) { head += "A: 1" }
            let own = HTTPHeaders(lines: Array(head.utf8))
            // A valid head is known the second time.
            for _ in 0..<2 {
                let shared = HTTPHeaders(lines: Array(head.utf8), like: &known)
                #expect(
                    shared.map { Array("\($0.name)|\($0.value)".utf8) }
                        == own.map { Array("\($0.name)|\($0.value)".utf8) })
                #expect(((try? shared.validate()) == nil) == ((try? own.validate()) == nil), "\(head)")
            }
        }
    }

    @Test("a kept connection sends the target of each URL")
    func targets() async throws {
        try await MockServer.run(handler: { _ in .text("") }) { server in
            let session = CurlSession(configuration: .direct)
            let targets = ["/a?b=c", "/a/../d", "/a?b=c", "/", "/e%20f?", "/e%c3%a9?a=%2f", "/a?b=c", "/a/../d"]
            for target in targets {
                let url = try #require(URL(string: "http://127.0.0.1:\(server.port)\(target)"))
                _ = try await session.send(NetworkRequest(.get, url))
            }
            #expect(server.requests.map(\.target) == targets)
            #expect(Set(server.requests.map { $0.headers["User-Agent"] }).count == 1)
            #expect(server.requests.allSatisfy { $0.headers["Accept-Encoding"]?.contains("gzip") == true })
        }
    }
}
#endif
