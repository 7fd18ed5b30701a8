import SwitchboardPlatform
import Foundation
@testable import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// Unknown `Content-Encoding` values, and announced lengths over a limit.
@Suite(.inTurn, .serialized, .timeLimit(.minutes(10)))
struct SessionEncodingTests {
    private static let bytes = Data("5;chunk-signature=ad80c730\r\nhello\r\n0\r\n\r\n".utf8)

    // RFC 9110 §8.4: a recipient that does not know a coding still receives the coded content.
    @Test(
        "unknown codings arrive unchanged, with the header [unknown encodings]",
        arguments: SessionKind.unknownEncodings, ["aws-chunked", "UTF-8", "aws-chunked,gzip", "gzip, rot13"])
    func unknownEncoding(kind: SessionKind, encoding: String) async throws {
        let answer = MockResponse.data(Self.bytes).with("Content-Encoding", encoding)
        try await MockServer.run(handler: { $0.path == "/chunked" ? answer.chunked(7) : answer }) { server in
            let session = kind.make()
            for path in ["whole", "chunked"] {
                let url = server.url.appendingPathComponent(path)
                let response = try await session.send(NetworkRequest(.get, url))
                #expect(response.body == Self.bytes)
                #expect(response.headers["Content-Encoding"] == encoding)
                let post = NetworkRequest(.post, url, body: DataBody(Data("x".utf8)))
                #expect(try await session.send(post).body == Self.bytes)

                var streamed = NetworkRequest(.get, url)
                streamed.options.streamsResponse = true
                var body = Data()
                for try await chunk in try await session.send(streamed).bytes { body += chunk }
                #expect(body == Self.bytes)
            }
            #expect(try await session.send(NetworkRequest(.head, server.url)).headers["Content-Encoding"] == encoding)
            // The next request on the same handle is decoded again.
            let gzip = try #require(Data(base64Encoded: SessionBodyTests.compressed["gzip"] ?? ""))
            server.enqueue(.data(gzip).with("Content-Encoding", "gzip"))
            #expect(try await session.send(NetworkRequest(.get, server.url)).text == SessionBodyTests.text)
        }
    }

    @Test(
        "a download is saved as it arrives [unknown encodings]",
        arguments: SessionKind.unknownEncodings)
    func download(kind: SessionKind) async throws {
        try await withFolder { folder in
            let answer = MockResponse.data(Self.bytes).with("Content-Encoding", "aws-chunked")
            try await MockServer.run(handler: { _ in answer }) { server in
                let endPoint = URLEndPoint(
                    .get, server.url, task: .download(to: folder.appendingPathComponent("file")))
                let response = try await Router<URLEndPoint>(session: kind.make()).rawResponse(for: endPoint)
                let file = try #require(response.fileURL)
                #expect(try Data(contentsOf: file) == Self.bytes)
            }
        }
    }

    // MARK: Codings

    /// The text of ``SessionBodyTests`` in Base64, compressed by Python's gzip, zlib and brotli and by `zstd`: one member
    /// and two, with the header of zlib and without, two codings.
    private static let codings: [(field: String, base64: String)] = [
        ("gzip", SessionBodyTests.compressed["gzip"] ?? ""),
        (
            "gzip",
            "H4sIAAAAAAACA8tIzcnJ11HIQKKsAEtyt3QUAAAAH4sIAAAAAAACA1NIzs8tKEotLk5NUUiqVEjMyy/"
                + "JSC1SKCjKTy9KzOUCAGamxigfAAAA"
        ),
        ("deflate", SessionBodyTests.compressed["deflate"] ?? ""),
        ("deflate", "y0jNycnXUchAoqwUkvNzC4pSi4tTUxSSKhUS8/JLMlKLFAqK8tOLEnO5AA=="),
        (
            "deflate, gzip",
            "H4sIAAAAAAACAwExAM7/eJzLSM3JyddRyECirBSS83MLilKLi1NTFJIqFRLz8ksyUosUCory04sSc7kA4AUSkg5dM1cxAAAA"
        ),
        ("br", "GzIAcIyUbt60VgAZe1M6beCQA4fv0hZhAsEGHGcchTz4jNZj7LdqBlUG"),
        (  // more than 16 bytes of the second member's head without output for zstd
            "zstd, gzip",
            "H4sIAAAAAAAC/9PYqv+XJaOUkaGEKSM1JydfR8FKITk/t6Aotbg4NQUA67wFAh4AAAAfiwgIAAAAAAL/YS1uYW1lLW9mLWEtZmlsZS10"
                + "aGF0LWlzLWxvbmcuenN0AFNIqlRIzMsvyUgtUigoyk8vSszlYmR41CUYfLjPDgDoaL9OHQAAAA=="
        ),
        ("zstd", "KLUv/QRodQEAdAJoZWxsbywgOiBjb21wcmVzc2VkIGJ5IGFub3RoZXIgcHJvZ3JhbQoBAOKKEVPDjj4="),
    ]

    @Test(
        "coded data that ends early is truncatedBody [compressed content cut short]",
        arguments: SessionKind.curlAlone, codings)
    func endsEarly(kind: SessionKind, coding: (field: String, base64: String)) async throws {
        let (whole, text) = (try #require(Data(base64Encoded: coding.base64)), SessionBodyTests.text)
        for size in [nil, 1, 7] {
            try await MockServer.run(handler: { request in
                let answer = MockResponse.data(whole.prefix(Int(request.path.dropFirst()) ?? 0))
                return (size.map { answer.chunked($0) } ?? answer).with("Content-Encoding", coding.field)
            }) { server in
                let session = kind.make()
                for count in [1, 2, 3, whole.count / 2, whole.count - 1, whole.count] {
                    let isWhole = count == whole.count
                    var request = NetworkRequest(.get, server.url.appendingPathComponent("\(count)"))
                    var received: String?
                    let code = await failure { received = try await session.send(request).text }
                    #expect(code == (isWhole ? nil : .truncatedBody), "\(count)")
                    #expect(received == (isWhole ? text : nil))

                    request.options.streamsResponse = true
                    var body = Data()
                    let end = await failure {
                        for try await chunk in try await session.send(request).bytes { body += chunk }
                    }
                    #expect(end == (isWhole ? nil : .truncatedBody), "\(count)")
                    #expect(isWhole ? body == Data(text.utf8) : text.utf8.starts(with: body))
                }
            }
        }
    }

    @Test(
        "bytes after the coded data are ignored, and no bytes are no data [decompression]",
        arguments: SessionKind.curlAlone, ["gzip", "deflate"])
    func excess(kind: SessionKind, coding: String) async throws {
        let whole = try #require(Data(base64Encoded: SessionBodyTests.compressed[coding] ?? ""))
        let almost = Data([0x1F, 0x00]) + Data(count: 510)  // begins like a member
        let excess = Data([0, 0x1F, 0x8B]) + Data(count: 509)  // contains the start of a member of gzip
        try await MockServer.run { server in
            server.enqueue(
                .data(whole + Data(count: 512)).with("Content-Encoding", coding),
                .data(whole + Data(count: 512)).with("Content-Encoding", coding).chunked(1),
                .data(whole + almost).with("Content-Encoding", coding),
                .data(whole + almost).with("Content-Encoding", coding).chunked(1),
                .data(whole + almost.prefix(1)).with("Content-Encoding", coding),
                .data(whole + excess).with("Content-Encoding", coding),
                .data(whole + excess).with("Content-Encoding", coding).chunked(1),
                .data(Data()).with("Content-Encoding", coding))
            let session = kind.make()
            var texts: [String] = []
            for _ in 0..<8 { texts.append(try await session.send(NetworkRequest(.get, server.url)).text) }
            #expect(texts == Array(repeating: SessionBodyTests.text, count: 7) + [""])
        }
    }

    // RFC 9110 §14.2: a range counts bytes of the coded representation, so a part ends anywhere in them.
    @Test(
        "a part of coded data is decoded as far as it goes [compressed content cut short]",
        arguments: SessionKind.curlAlone)
    func part(kind: SessionKind) async throws {
        let whole = try #require(Data(base64Encoded: SessionBodyTests.compressed["gzip"] ?? ""))
        try await MockServer.run { server in
            let fields = ["Content-Encoding": "gzip", "Content-Range": "bytes 0-39/\(whole.count)"] as HTTPHeaders
            server.enqueue(.data(whole.prefix(40), statusCode: 206, headers: fields))
            var request = NetworkRequest(.get, server.url)
            request.headers["Range"] = "bytes=0-39"
            let response = try await kind.make().send(request)
            #expect(!response.body.isEmpty && SessionBodyTests.text.utf8.starts(with: response.body))
        }
    }

    // Fetch, HTTP-network-or-cache fetch: a request with a Range accepts `identity` alone.
    @Test(
        "a range of a file that the server has compressed is plain [decompression]",
        arguments: SessionKind.allCases)
    func plainPart(kind: SessionKind) async throws {
        let coded = try #require(Data(base64Encoded: SessionBodyTests.compressed["gzip"] ?? ""))
        let plain = Data(SessionBodyTests.text.utf8)
        try await MockServer.run(handler: { request in
            let isCoded = request.headers["Accept-Encoding"]?.contains("gzip") == true
            let whole = isCoded ? coded : plain
            guard request.headers["Range"] == "bytes=20-39" else { return .status(400) }
            let answer = MockResponse.data(whole[20...39], statusCode: 206)
                .with("Content-Range", "bytes 20-39/\(whole.count)")
            return isCoded ? answer.with("Content-Encoding", "gzip") : answer
        }) { server in
            let session = kind.make()
            let ranged = NetworkRequest(.get, server.url, headers: ["Range": "bytes=20-39"])
            let response = try await session.send(ranged)
            #expect(response.body == plain[20...39])
            #expect(server.requests[0].headers.values(for: "Accept-Encoding") == ["identity"])
            // The next request does not keep the field, and a request may have its own.
            _ = try await session.send(NetworkRequest(.get, server.url))
            #expect(server.requests[1].headers["Accept-Encoding"] != "identity")
            for headers in [
                ["Accept-Encoding": "br", "Range": "bytes=20-39"], ["range": "bytes=20-39", "accept-encoding": "br"],
            ] as [HTTPHeaders] {
                _ = try await session.send(NetworkRequest(.get, server.url, headers: headers))
                #expect(server.requests.last?.headers.values(for: "Accept-Encoding") == ["br"])
            }
        }
    }

    /// An empty frame, whose window of 8 or 16 MB its sixth byte states (RFC 8878 §3.1.1.1.2). RFC 9659 §3 allows 8 MB.
    @Test("a window of zstd over 8 MB is refused by name [damaged compression]", arguments: SessionKind.curlAlone)
    func largeWindow(kind: SessionKind) async throws {
        func frame(_ window: UInt8) -> MockResponse {
            .data(Data([0x28, 0xB5, 0x2F, 0xFD, 0, window, 1, 0, 0])).with("Content-Encoding", "zstd")
        }
        try await MockServer.run { server in
            server.enqueue(frame(13 << 3), frame(14 << 3))
            let session = kind.make()
            let allowed = try await session.send(NetworkRequest(.get, server.url))
            #expect(allowed.body.isEmpty)
            let error = await #expect(throws: NetworkError.self) {
                try await session.send(NetworkRequest(.get, server.url))
            }
            #expect(error?.code == .cannotDecodeResponse)
            #expect(error?.reason?.contains("too much memory") == true, "\(String(describing: error))")
        }
    }

    @Test(
        "more than five codings are refused [damaged compression]", arguments: SessionKind.curlAlone)
    func manyCodings(kind: SessionKind) async throws {
        try await MockServer.run { server in
            let codings = Array(repeating: "gzip", count: 6).joined(separator: ", ")
            server.enqueue(.text("abc").with("Content-Encoding", codings))
            let code = await failure { try await kind.make().send(NetworkRequest(.get, server.url)) }
            #expect(code == .cannotDecodeResponse)
        }
    }

    // MARK: Lengths

    /// The last length overflows every integer type. RFC 9110 §8.6 tells recipients to expect that.
    @Test(
        "an announced length over the limit fails at once [body size limit]",
        arguments: SessionKind.allCases,
        [
            "Content-Length: 1001", "Content-Length: 1001\r\nContent-Encoding: gzip",
            "Content-Length: 36893488147419103232",
        ])
    func announcedTooLarge(kind: SessionKind, fields: String) async throws {
        try await RawServer.run { connection in
            _ = try connection.readHead()
            try connection.send("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n")
            try connection.waitForEnd()
        } body: { server in
            var request = NetworkRequest(.get, server.url)
            request.limits.responseBody = 1_000
            request.timeouts.attempt = .seconds(300)
            let limited = request
            let error = await #expect(throws: NetworkError.self) { try await kind.make().send(limited) }
            #expect(error?.code == .responseTooLarge, "\(String(describing: error))")
            #expect(error?.statusCode == 200)
        }
    }

    @Test(
        "an encoded download announced too large fails [body size limit]",
        arguments: SessionKind.allCases)
    func announcedFileTooLarge(kind: SessionKind) async throws {
        try await withFolder { folder in
            try await RawServer.run { connection in
                _ = try connection.readHead()
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\nContent-Encoding: gzip\r\n\r\n")
                try connection.waitForEnd()
            } body: { server in
                let options = RequestOptions {
                    $0.limits.downloadedFile = 1_000
                    $0.timeouts.attempt = .seconds(300)
                }
                let task = HTTPTask.download(to: folder.appendingPathComponent("file"))
                let endPoint = URLEndPoint(.get, server.url, task: task, options: options)
                let error = await #expect(throws: NetworkError.self) {
                    try await Router<URLEndPoint>(session: kind.make()).rawResponse(for: endPoint)
                }
                #expect(error?.code == .responseTooLarge, "\(String(describing: error))")
            }
        }
    }

    // RFC 9112 §6.3: Transfer-Encoding overrides Content-Length.
    @Test(
        "chunked bodies ignore the Content-Length [body size limit]",
        arguments: SessionKind.allCases)
    func overridden(kind: SessionKind) async throws {
        try await RawServer.run { connection in
            try connection.answerAll(
                "HTTP/1.1 200 OK\r\nContent-Length: 1001\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
        } body: { server in
            var request = NetworkRequest(.get, server.url)
            request.limits.responseBody = 1_000
            let response = try await kind.make().send(request)
            #expect(response.text == "hello")
        }
    }

    // RFC 9110 §10.1.4: a server must not send a transfer coding other than chunked unless TE lists it.
    @Test(
        "transfer codings other than chunked are refused [unknown encodings]",
        arguments: SessionKind.curlAlone, ["gzip", "gzip, chunked", "Identity,\tGZIP , chunked", "chunked, foo"])
    func transferCodings(kind: SessionKind, codings: String) async throws {
        let hello = try #require(Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJBwCGphA2BQAAAA=="))
        try await RawServer.run { connection in
            let method = try connection.readHead().prefix { $0 != " " }
            try connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: \(codings)\r\n\r\n")
            guard method != "HEAD" else { return }
            let isChunked = codings.contains("chunked")
            if isChunked { try connection.send("\(String(hello.count, radix: 16))\r\n") }
            try connection.send(hello)
            if isChunked { try connection.send("\r\n0\r\n\r\n") }
        } body: { server in
            let session = kind.make()
            let error = await #expect(throws: NetworkError.self) {
                try await session.send(NetworkRequest(.get, server.url))
            }
            #expect(error?.code == .cannotDecodeResponse, "\(String(describing: error))")
            let head = try await session.send(NetworkRequest(.head, server.url))
            #expect(head.statusCode == 200)
        }
    }
}

extension SessionKind {
    /// The sessions that accept unknown encodings. URLSession on Linux has libcurl refuse them.
    static let unknownEncodings = allCases.filter {
        !URLSessionQuirks.current.reportsLibcurlErrors || $0 != .foundation
    }
}
