import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// Response bodies: their framing, their compression and their size limits.
@Suite(.inTurn, .serialized, .timeLimit(.minutes(10)))
struct SessionBodyTests {
    // MARK: Framing

    // RFC 9112 §7.1: sizes are hexadecimal in either case, extensions are ignored.
    @Test(
        "extensions, leading zeros and tiny chunks are read [chunked bodies]",
        arguments: SessionKind.allCases)
    func chunkedBody(kind: SessionKind) async throws {
        try await RawServer.run { connection in
            for _ in 0..<2 {
                _ = try connection.readHead()
                try connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                try connection.send(
                    "1;name=value\r\na\r\n0000A;q=\"quoted; text\"\r\nbcdefghijk\r\nb\r\nlmnopqrstuv\r\n")
                for byte in "wxyz" { try connection.send("1\r\n\(byte)\r\n") }
                try connection.send("0;last\r\n\r\n")
            }
            try connection.waitForEnd()
        } body: { server in
            let session = kind.make()
            for _ in 0..<2 {
                let response = try await session.send(NetworkRequest(.get, server.url))
                #expect(response.text == "abcdefghijklmnopqrstuvwxyz")
            }
            #expect(!kind.freesConnectionAtEnd || server.connectionCount == 1)
        }
    }

    @Test("chunks override a Content-Length [chunked bodies]", arguments: SessionKind.allCases)
    func bothLengths(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(
                .raw(
                    "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
            )
            let response = try await kind.make().send(NetworkRequest(.get, server.url))
            #expect(response.text == "hello")
        }
    }

    @Test(
        "a close ends the body [bodies up to the end of the connection]",
        arguments: SessionKind.allCases, ["HTTP/1.1", "HTTP/1.0"])
    func bodyUntilClose(kind: SessionKind, version: String) async throws {
        let body = String(repeating: "all there is; ", count: 10_000)
        try await MockServer.run { server in
            server.enqueue(.raw("\(version) 200 OK\r\n\r\n\(body)"), .raw("\(version) 200 OK\r\n\r\n"))
            let session = kind.make()
            let response = try await session.send(NetworkRequest(.get, server.url))
            #expect(response.text == body)
            let empty = try await session.send(NetworkRequest(.get, server.url))
            #expect(empty.body.isEmpty)
        }
    }

    // MARK: Compression

    static let text = "hello, hello, hello: compressed by another program\n"
    // Python's gzip.compress(text, mtime=0), zlib.compress(text, 9), a raw deflate stream of level 9; zstd -19.
    static let compressed: [String: String] = [
        "gzip": "H4sIAAAAAAACA8tIzcnJ11HIQKKsFJLzcwuKUouLU1MUkioVEvPySzJSixQKivLTixJzuQAZsZm7MwAAAA==",
        "x-gzip": "H4sIAAAAAAACA8tIzcnJ11HIQKKsFJLzcwuKUouLU1MUkioVEvPySzJSixQKivLTixJzuQAZsZm7MwAAAA==",
        "deflate": "eNrLSM3JyddRyECirBSS83MLilKLi1NTFJIqFRLz8ksyUosUCory04sSc7kA4AUSkg==",
        "identity": "aGVsbG8sIGhlbGxvLCBoZWxsbzogY29tcHJlc3NlZCBieSBhbm90aGVyIHByb2dyYW0K",
    ]

    @Test(
        "data of other programs is decompressed, even by byte [decompression]",
        arguments: SessionKind.allCases, compressed.keys.sorted())
    func decompression(kind: SessionKind, encoding: String) async throws {
        let data = try #require(Data(base64Encoded: Self.compressed[encoding] ?? ""))
        try await MockServer.run { server in
            let answer = MockResponse.data(data).with("Content-Encoding", encoding)
            server.enqueue(answer, answer.chunked(1))
            let session = kind.make()
            for _ in 0..<2 {
                let response = try await session.send(NetworkRequest(.get, server.url))
                #expect(response.text == Self.text)
                #expect(response.metrics.bytesReceived == 51)
            }
            let accepted = server.requests.last?.headers["Accept-Encoding"] ?? ""
            #expect(accepted.contains("gzip") && accepted.contains("deflate"))
        }
    }

    static let damaged = [
        // The last byte of the CRC changed.
        "H4sIAAAAAAACA8tIzcnJ11HIQKKsFJLzcwuKUouLU1MUkioVEvPySzJSixQKivLTixJzuQAZsZm6MwAAAA==",
        // "no gzip"
        "bm8gZ3ppcA==",
    ]

    @Test(
        "damaged content is cannotDecodeResponse [damaged compression]", arguments: SessionKind.allCases)
    func damagedContent(kind: SessionKind) async throws {
        try await MockServer.run { server in
            let session = kind.make()
            for data in Self.damaged {
                server.enqueue(.data(Data(base64Encoded: data) ?? Data()).with("Content-Encoding", "gzip"))
            }
            for _ in Self.damaged {
                let error = await #expect(throws: NetworkError.self) {
                    try await session.send(NetworkRequest(.get, server.url))
                }
                #expect(error?.code == .cannotDecodeResponse)
                #expect(error?.statusCode == 200)
            }
        }
    }

    @Test(
        "cut compressed content is truncatedBody [damaged compression]",
        arguments: SessionKind.allCases, [true, false])
    func cutCompression(kind: SessionKind, isChunked: Bool) async throws {
        let data = try #require(Data(base64Encoded: Self.compressed["gzip"] ?? ""))
        try await MockServer.run { server in
            let answer = MockResponse.data(data).with("Content-Encoding", "gzip").truncated(after: 40)
            server.enqueue(isChunked ? answer.chunked(7) : answer)
            let error = await #expect(throws: NetworkError.self) {
                try await kind.make().send(NetworkRequest(.get, server.url))
            }
            #expect(error?.code == .truncatedBody)
        }
    }

    // MARK: Limits

    @Test(
        "a body over the limit ends the exchange early [body size limit]",
        arguments: SessionKind.allCases, [true, false])
    func bodyOverTheLimit(kind: SessionKind, isAnnounced: Bool) async throws {
        try await MockServer.run { server in
            let body = MockResponse.data(Data(repeating: 7, count: 1_000_000)).stalled(after: 900_000)
            server.enqueue(isAnnounced ? body : body.chunked(10_000))
            var request = NetworkRequest(.get, server.url)
            request.limits.responseBody = 50_000
            let error = await #expect(throws: NetworkError.self) { try await kind.make().send(request) }
            #expect(error?.code == .responseTooLarge)
            #expect(error?.reason?.contains("50000") == true)
            #expect(error?.statusCode == 200)
            #expect((error?.body?.count ?? .max) <= 50_000)
            try await server.waitForDisconnect()
        }
    }

    @Test("a body of exactly the limit is accepted [body size limit]", arguments: SessionKind.allCases)
    func bodyAtTheLimit(kind: SessionKind) async throws {
        try await MockServer.run { server in
            let body = MockResponse.data(Data(repeating: 7, count: 50_000))
            server.enqueue(body, body.chunked(9_999))
            let session = kind.make()
            var request = NetworkRequest(.get, server.url)
            request.limits.responseBody = 50_000
            for _ in 0..<2 {
                let last = try await session.send(request)
                #expect(last.body.count == 50_000)
            }
        }
    }

    @Test(
        "a HEAD response's Content-Length has no limit [body size limit]",
        arguments: SessionKind.allCases)
    func headIsNoBody(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.status(200, headers: ["Content-Length": "999999999999"]))
            var request = NetworkRequest(.head, server.url)
            request.limits.responseBody = 10
            let response = try await kind.make().send(request)
            #expect(response.headers["Content-Length"] == "999999999999")
        }
    }

    @Test(
        "decompressing beyond the limit is an error [body size limit]",
        arguments: SessionKind.allCases)
    func unpackedLimit(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.data(Self.zeros(20_000_000)).with("Content-Encoding", "deflate"))
            var request = NetworkRequest(.get, server.url)
            request.limits.responseBody = 300_000
            let error = await #expect(throws: NetworkError.self) { try await kind.make().send(request) }
            #expect(error?.code == .responseTooLarge)
            #expect((error?.body?.count ?? .max) <= 300_000)
        }
    }

    @Test(
        "content over the ratio is an error [decompression ratio limit]",
        arguments: SessionKind.curlAlone, [true, false])
    func ratioLimit(kind: SessionKind, isStreamed: Bool) async throws {
        let (limit, packed) = (50, Self.zeros(20_000_000))  // 158 times its size
        try await MockServer.run { server in
            let session = kind.make()
            let answer = MockResponse.data(packed).with("Content-Encoding", "deflate")
            server.enqueue(answer, answer.chunked(5_000))
            var request = NetworkRequest(.get, server.url)
            request.limits.decompressionRatio = limit
            request.options.streamsResponse = isStreamed
            for _ in 1...2 {
                let error = await #expect(throws: NetworkError.self) {
                    let response = try await session.send(request)
                    for try await _ in response.bytes {}
                }
                #expect(error?.code == .responseTooLarge)
                #expect(error?.reason?.contains("50 times") == true)
            }
        }
    }

    @Test(
        "the default of the ratio is 250 [decompression ratio limit]",
        arguments: SessionKind.curlAlone)
    func defaultRatio(kind: SessionKind) async throws {
        try await MockServer.run { server in
            let session = kind.make()
            // 158 times its size, and about 1,000 times.
            server.enqueue(
                .data(Self.zeros(20_000_000)).with("Content-Encoding", "deflate"),
                .data(Data(count: 20_000_000)).gzipped())
            let response = try await session.send(NetworkRequest(.get, server.url))
            #expect(response.body.count == 20_000_000)
            let error = await #expect(throws: NetworkError.self) {
                try await session.send(NetworkRequest(.get, server.url))
            }
            #expect(error?.code == .responseTooLarge)
            #expect(error?.reason?.contains("250 times") == true)
        }
    }

    @Test(
        "a small or allowed body is decompressed [decompression ratio limit]",
        arguments: SessionKind.curlAlone)
    func withinRatio(kind: SessionKind) async throws {
        try await MockServer.run { server in
            let session = kind.make()
            // The last body has exactly the ratio. Bytes after the end are ignored.
            for (size, limit, count) in [(5_000_000, 250, 0), (1_000_000, 2, 0), (3_000_000, 100, 30_000)] {
                var packed = Self.zeros(size)
                packed += Data(count: max(0, count - packed.count))
                server.enqueue(.data(packed).with("Content-Encoding", "deflate"))
                var request = NetworkRequest(.get, server.url)
                request.limits.decompressionRatio = limit
                let response = try await session.send(request)
                #expect(response.body == Data(count: size))
            }
        }
    }

    @Test("a head over its limit is headersTooLarge [head size limit]", arguments: SessionKind.allCases)
    func headerLimit(kind: SessionKind) async throws {
        try await MockServer.run { server in
            let session = kind.make()
            server.enqueue(.text("x").with("X-Big", String(repeating: "a", count: 5_000)))
            server.enqueue(.text("x").with("X-Big", String(repeating: "a", count: 3_000)))
            var request = NetworkRequest(.get, server.url)
            request.limits.responseHeaders = 4_000
            let error = await #expect(throws: NetworkError.self) { try await session.send(request) }
            #expect(error?.code == .headersTooLarge)
            let response = try await session.send(request)
            #expect(response.headers["X-Big"]?.count == 3_000)
        }
    }

    #if os(Linux)
    @Test("the limit of a head is its bytes with the empty line")
    func exactHeaderLimit() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        try await RawServer.run { connection in
            while let _ = try? connection.readHead() { try connection.send(Data(head.utf8)) }
        } body: { server in
            var request = NetworkRequest(.get, server.url)
            request.limits.responseHeaders = head.utf8.count
            let whole = try? await CurlSession().send(request)
            #expect(whole?.statusCode == 200)
            request.limits.responseHeaders -= 1
            let error = await #expect(throws: NetworkError.self) { try await CurlSession().send(request) }
            #expect(error?.code == .headersTooLarge)
        }
    }

    @Test("a head over libcurl's limit is headersTooLarge, whatever the request's")
    func headerLimitOfTheLibrary() async throws {
        try await MockServer.run { server in
            var headers = HTTPHeaders()
            for index in 0..<400 { headers["X-Field-\(index)"] = String(repeating: "a", count: 985) }
            server.enqueue(.status(200, headers: headers))
            var request = NetworkRequest(.get, server.url)
            request.limits.responseHeaders = 1 << 20
            let code = await failure { try await CurlSession().send(request) }
            // Versions before 8.3 without security fixes accept the head.
            #expect(code == nil || code == .headersTooLarge)
        }
    }
    #endif

    /// Returns `count` zeros as a zlib stream ([RFC 1950](https://www.rfc-editor.org/rfc/rfc1950)): one block of fixed
    /// Huffman codes ([RFC 1951 §3.2.6](https://www.rfc-editor.org/rfc/rfc1951#section-3.2.6)) with literals and copies
    /// of 258 bytes each. `count` must not be a multiple of 258.
    static func zeros(_ count: Int) -> Data {
        var bytes: [UInt8] = [0x78, 0x9C]
        var (byte, used): (UInt8, UInt8) = (0, 0)
        func put(_ bits: String) {
            for bit in bits {
                if bit == "1" { byte |= 1 << used }
                used += 1
                if used == 8 {
                    bytes.append(byte)
                    (byte, used) = (0, 0)
                }
            }
        }
        put("1" + "10")  // the last block; type 1, its low bit first
        for _ in 0..<(count % 258) { put("00110000") }  // the literal 0
        for _ in 0..<(count / 258) { put("11000101" + "00000") }  // length 258 (code 285), distance 1
        put("0000000")  // the end of the block
        if used > 0 { bytes.append(byte) }
        let sum = UInt32(count % 65_521) << 16 | 1  // Adler-32 of zeros
        return Data(bytes + withUnsafeBytes(of: sum.bigEndian, Array.init))
    }
}
