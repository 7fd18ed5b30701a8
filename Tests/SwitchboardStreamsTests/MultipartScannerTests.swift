import Foundation
import SwitchboardTesting
import Testing

@testable import Switchboard
import SwitchboardTestSupport
@testable import SwitchboardStreams

/// Multipart bodies parsed in chunks split anywhere. The expected parts come from the RFCs' examples, from bodies of
/// Python and nginx, and from Python's email parser.
@Suite(.timeLimit(.minutes(10)))
struct MultipartScannerTests {
    private func parts(_ chunks: [Data], boundary: String, limit: Int = 1 << 20) throws -> [ResponsePart] {
        var scanner = MultipartScanner(boundary: boundary, limit: limit)
        var parts: [ResponsePart] = []
        for chunk in chunks {
            scanner.push(chunk)
            while let part = try scanner.next() { parts.append(part) }
        }
        scanner.finish()
        while let part = try scanner.next() { parts.append(part) }
        return parts
    }

    /// Expects the parts of a body in two chunks, split at every byte, and byte by byte.
    private func expect(
        _ body: String, boundary: String, _ expected: [(HTTPHeaders, String)], line: Int = #line
    ) throws {
        let bytes = Array(body.utf8)
        var cuts = (0...bytes.count).map { [Data(bytes[..<$0]), Data(bytes[$0...])] }
        cuts.append(bytes.map { Data([$0]) })
        let expected = expected.map { ResponsePart(headers: $0.0, body: Data($0.1.utf8)) }
        for chunks in cuts {
            let parts = try parts(chunks, boundary: boundary)
            #expect(
                parts == expected, "cut at \(chunks.first?.count ?? 0)",
                sourceLocation: .init(fileID: #fileID, filePath: #filePath, line: line, column: 1))
        }
    }

    private func failure(_ body: String, boundary: String = "b", limit: Int = 1 << 20) throws -> NetworkError {
        let error = #expect(throws: NetworkError.self) {
            try parts([Data(body.utf8)], boundary: boundary, limit: limit)
        }
        return try #require(error)
    }

    // MARK: Examples

    @Test("parses the example of RFC 2046 §5.1.1, with CRLF and with LF")
    func example() throws {
        let body = """
            This is the preamble.  It is to be ignored, though it
            is a handy place for composition agents to include an
            explanatory note to non-MIME conformant readers.

            --simple boundary

            This is implicitly typed plain US-ASCII text.
            It does NOT end with a linebreak.
            --simple boundary
            Content-type: text/plain; charset=us-ascii

            This is explicitly typed plain US-ASCII text.
            It DOES end with a linebreak.

            --simple boundary--

            This is the epilogue.  It is also to be ignored.

            """
        for end in ["\r\n", "\n"] {
            try expect(
                body.replacingOccurrences(of: "\n", with: end), boundary: "simple boundary",
                [
                    ([:], "This is implicitly typed plain US-ASCII text.\(end)It does NOT end with a linebreak."),
                    (
                        ["Content-type": "text/plain; charset=us-ascii"],
                        "This is explicitly typed plain US-ASCII text.\(end)It DOES end with a linebreak.\(end)"
                    ),
                ])
        }
    }

    @Test("parses the byte ranges of RFC 9110 §15.3.7.2")
    func byteRanges() throws {
        let type = "multipart/byteranges; boundary=THIS_STRING_SEPARATES"
        let lines = [
            "--THIS_STRING_SEPARATES", "Content-Type: application/pdf", "Content-Range: bytes 500-999/8000", "",
            "...the first range...", "--THIS_STRING_SEPARATES", "Content-Type: application/pdf",
            "Content-Range: bytes 7000-7999/8000", "", "...the second range", "--THIS_STRING_SEPARATES--", "",
        ]
        let boundary = try MultipartBoundary.parse(contentType: type)
        let body = lines.joined(separator: "\r\n")
        try expect(
            body, boundary: boundary,
            [
                (
                    ["Content-Type": "application/pdf", "Content-Range": "bytes 500-999/8000"], "...the first range..."
                ),
                (["Content-Type": "application/pdf", "Content-Range": "bytes 7000-7999/8000"], "...the second range"),
            ])
        let ranges = try parts([Data(body.utf8)], boundary: boundary).map(\.contentRange)
        #expect(ranges == [ContentRange(500...999, of: 8_000), ContentRange(7_000...7_999, of: 8_000)])
    }

    // Recorded from nginx 1.22.1 for bytes=0-4,10-12,-3.
    @Test("parses three ranges as nginx sends them")
    func nginx() throws {
        let boundary = "00000000000000000001"
        func part(_ range: String, _ text: String) -> String {
            "\r\n--\(boundary)\r\nContent-Type: text/plain\r\nContent-Range: bytes \(range)/36\r\n\r\n\(text)"
        }
        let body = part("0-4", "01234") + part("10-12", "abc") + part("33-35", "xyz") + "\r\n--\(boundary)--\r\n"
        try expect(
            body, boundary: boundary,
            [
                (["Content-Type": "text/plain", "Content-Range": "bytes 0-4/36"], "01234"),
                (["Content-Type": "text/plain", "Content-Range": "bytes 10-12/36"], "abc"),
                (["Content-Type": "text/plain", "Content-Range": "bytes 33-35/36"], "xyz"),
            ])
    }

    // Made by Python's email.mime, policy HTTP.
    @Test("keeps a nested multipart and transfer encodings as bytes")
    func python() throws {
        let type = "multipart/mixed; boundary=\"===============outer==\""
        let inner =
            "--===============inner==\r\nContent-Type: text/plain; charset=\"us-ascii\"\r\nMIME-Version: 1.0\r\n"
            + "Content-Transfer-Encoding: 7bit\r\n\r\nplain\r\n--===============inner==\r\nContent-Type: text/html; "
            + "charset=\"us-ascii\"\r\nMIME-Version: 1.0\r\nContent-Transfer-Encoding: 7bit\r\n\r\n<p>html</p>\r\n"
            + "--===============inner==--\r\n"
        let body =
            "--===============outer==\r\nContent-Type: text/plain; charset=\"utf-8\"\r\nMIME-Version: 1.0\r\n"
            + "Content-Transfer-Encoding: base64\r\n\r\nSGVsbG8sIHfDtnJsZAo=\r\n\r\n--===============outer==\r\n"
            + "Content-Type: multipart/alternative; boundary=\"===============inner==\"\r\nMIME-Version: 1.0\r\n\r\n"
            + inner + "\r\n--===============outer==--\r\n"
        try expect(
            body, boundary: try MultipartBoundary.parse(contentType: type),
            [
                (
                    [
                        "Content-Type": "text/plain; charset=\"utf-8\"", "MIME-Version": "1.0",
                        "Content-Transfer-Encoding": "base64",
                    ], "SGVsbG8sIHfDtnJsZAo=\r\n"
                ),
                (
                    [
                        "Content-Type": "multipart/alternative; boundary=\"===============inner==\"",
                        "MIME-Version": "1.0",
                    ], inner
                ),
            ])
        let within = try parts([Data(inner.utf8)], boundary: "===============inner==")
        #expect(within.map(\.body) == [Data("plain".utf8), Data("<p>html</p>".utf8)])
    }

    // MARK: Boundaries in the body

    @Test("text that only looks like a boundary is content")
    func lookAlikes() throws {
        for content in [
            "--bX", "x\r\n--bX\r\ny", "x--b\r\ny", "x\n--b\r\ny", "x\r--b\r\ny", "x\r\n --b\r\ny", "x\r\n-b\r\ny",
            "x\r\n\u{2010}-b\r\ny", "x\r\n--B\r\ny", "x\r\n--b-\r\ny", "x\r\n--b-- -\r\ny", "x\r\n--b\ry", "--b\rx",
            "\r", "\n", "\r\n", "\r\n\r\n", "x\r", "\r\r", "x\r\n--", "\n--b--\r\n",
            "x\r\n--b" + String(repeating: " ", count: 257) + "\r\ny",
        ] {
            try expect("--b\r\n\r\n\(content)\r\n--b--", boundary: "b", [([:], content)])
        }
        for content in ["--bX", "x\n--bX\ny", "x--b\ny", "\r", "x\r\n", "\n", "x\ry"] {
            try expect("--b\n\n\(content)\n--b--", boundary: "b", [([:], content)])
        }
    }

    @Test("a boundary may end with blanks or LF; the last one may end the body")
    func padding() throws {
        try expect("--b \t \r\n\r\nx\r\n--b\t\r\n\r\ny\r\n--b-- ", boundary: "b", [([:], "x"), ([:], "y")])
        try expect("--b\r\n\r\nx\r\n--b\n\ny\r\n--b--\n", boundary: "b", [([:], "x"), ([:], "y")])
        let blanks = String(repeating: " ", count: 256)
        try expect("--b\(blanks)\r\n\r\nx\r\n--b--\r", boundary: "b", [([:], "x")])
        try expect("--b--", boundary: "b", [])
        try expect("--b--\r\n--b\r\n\r\nx\r\n--b--", boundary: "b", [])
    }

    @Test("parts may be empty or lack fields; adjacent boundaries hold no part")
    func empty() throws {
        try expect("--b\r\n\r\n\r\n--b\r\n\r\n--b--", boundary: "b", [([:], ""), ([:], "")])
        try expect("--b\r\nA: 1\r\n\r\n--b\r\nA: 2\r\n--b--", boundary: "b", [(["A": "1"], ""), (["A": "2"], "")])
        try expect("--b\r\n--b\r\n\r\nx\r\n--b--", boundary: "b", [([:], "x")])
        try expect("\r\n\r\n--b\r\n\r\nx\r\n--b--", boundary: "b", [([:], "x")])
    }

    // MARK: Fields

    @Test("fields keep order, repeats and folding, in UTF-8 or ISO 8859-1")
    func fields() throws {
        try expect(
            "--b\r\nA:1\r\na: \t2 \r\nB:\r\nC: one\r\n  two\r\n\tthree \r\nD: é\r\n\r\nx\r\n--b--", boundary: "b",
            [(["A": "1", "a": "2", "B": "", "C": "one two three", "D": "é"], "x")])
        let latin = Data("--b\r\nA: \u{e9}\r\n\r\n\r\n--b--".unicodeScalars.map { UInt8($0.value) })
        #expect(try parts([latin], boundary: "b").map(\.headers) == [["A": "é"]])
    }

    @Test(
        "an invalid header field is refused",
        arguments: [
            "no colon", ": no name", "a b: c", "A : 1", " A: folded", "A: a\0b", "A: a\u{1}b", "A: a\rb", "é: 1",
            "A: 1\r\nB", "A: a\r\n b\0",
        ])
    func badFields(line: String) throws {
        let error = try failure("--b\r\n\r\n\r\n--b\r\n\(line)\r\n\r\nx\r\n--b--")
        #expect(error.code == .invalidResponse)
        #expect(error.reason?.contains("part") == true)
    }

    // MARK: Ends and limits

    @Test("a body cut before its last boundary is truncatedBody")
    func truncated() throws {
        let whole = "preamble\r\n--b\r\nA: 1\r\n\r\nx\r\n--b\r\n\r\ny\r\n--b--"
        for count in 0..<whole.utf8.count {
            let error = try failure(String(whole.prefix(count: count)))
            #expect(error.code == .truncatedBody, "\(count)")
        }
        #expect(try parts([Data(whole.utf8)], boundary: "b").count == 2)
    }

    @Test("bodies, heads and preambles beyond their limits are refused")
    func limits() throws {
        let ten = "--b\r\n\r\n0123456789\r\n--b--"
        #expect(try parts([Data(ten.utf8)], boundary: "b", limit: 10).count == 1)
        #expect(try failure(ten, limit: 9).code == .responseTooLarge)
        #expect(try failure("--b\r\n\r\n0123456789", limit: 9).reason == "a part has more than 9 bytes")
        let head = String(repeating: "X-Filler: 0123456789\r\n", count: 11_915)  // 262,130 bytes, 14 are left
        let fits = "--b\r\n\(head)Y: 3456789\r\n\r\n\r\n--b--"
        #expect(try parts([Data(fits.utf8)], boundary: "b").first?.headers.count == 11_916)
        #expect(try failure("--b\r\n\(head)Y: 34567890\r\n\r\n\r\n--b--").code == .headersTooLarge)
        let long = "--b\r\nA: " + String(repeating: "x", count: 262_142)
        #expect(try failure(long).code == .headersTooLarge)
        let preamble = String(repeating: "0123456789abcde\n", count: 16_384)
        #expect(try failure(preamble + "x\r\n--b--").code == .responseTooLarge)
        #expect(try parts([Data((preamble + "--b--").utf8)], boundary: "b").isEmpty)
    }

    @Test("endless input without a boundary is refused as it arrives", arguments: [7, 10_000])
    func endless(size: Int) throws {
        for (start, code) in [
            ("", NetworkError.Code.responseTooLarge), ("--b\r\n", .headersTooLarge), ("--b\r\nA: ", .headersTooLarge),
            ("--b\r\n\r\n", .responseTooLarge), ("--b\r\n\r\n\r\n--b", .responseTooLarge),
        ] {
            var scanner = MultipartScanner(boundary: "b", limit: 100_000)
            scanner.push(Data(start.utf8))
            let chunk = Data(repeating: UInt8(ascii: " "), count: size)
            let error = #expect(throws: NetworkError.self) {
                for _ in 0...(300_000 / size) {
                    while try scanner.next() != nil {}
                    scanner.push(chunk)
                }
            }
            #expect(error?.code == code, "\(start.debugDescription)")
        }
    }

    @Test("a part is delivered once the next boundary's line is complete")
    func promptness() throws {
        var scanner = MultipartScanner(boundary: "b", limit: 100)
        let text = "--b\r\n\r\nx\r\n--b\r\n"
        for byte in text.utf8.dropLast() {
            scanner.push(Data([byte]))
            #expect(try scanner.next() == nil)
        }
        scanner.push(Data("\n".utf8))
        #expect(try scanner.next()?.body == Data("x".utf8))
        #expect(try scanner.next() == nil)
    }

    // MARK: Types

    @Test(
        "parses the boundary of a content type",
        arguments: [
            ("multipart/mixed; boundary=b", "b"), ("Multipart/X-Any;BOUNDARY=\"b c\"", "b c"),
            ("multipart/mixed; charset=utf-8; boundary=\"a\\\"b\\\\\"; x=y", "a\"b\\"),
            ("multipart/byteranges;boundary=gc0p4Jq0M2Yt08j34c0p", "gc0p4Jq0M2Yt08j34c0p"),
            ("multipart/mixed; a=\"; boundary=no\"; boundary=yes", "yes"), ("multipart/mixed;; boundary = b ;", "b"),
            ("multipart/mixed; boundary=----=_Part_1/2:3?", "----=_Part_1/2:3?"),
            ("multipart/mixed; boundary=b; boundary=\"b\"", "b"), ("multipart/mixed; flag; boundary=b", "b"),
            ("multipart/mixed; boundary=" + String(repeating: "x", count: 70), String(repeating: "x", count: 70)),
        ])
    func boundaries(type: String, boundary: String) throws {
        #expect(try MultipartBoundary.parse(contentType: type) == boundary)
    }

    @Test(
        "a type without a valid boundary is refused",
        arguments: [
            "multipart/mixed", "multipart/mixed; boundary", "multipart/mixed; boundary=",
            "multipart/mixed; boundary=\"\"",
            "multipart/mixed; boundary=\"b", "multipart/mixed; boundary=\"b \"",
            "multipart/mixed; boundary=a; boundary=b",
            "multipart/mixed; boundary=b c", "multipart/mixed; boundary=a, multipart/mixed; boundary=a",
            "multipart/mixed; boundary=é", "multipart/mixed; boundary=\"a\tb\"", "multipart/mixed; xboundary=b",
            "multipart/mixed; boundary=" + String(repeating: "x", count: 71), "multipart/mixed; boundary*=utf-8''b",
        ])
    func noBoundary(type: String) {
        let error = #expect(throws: NetworkError.self) { try MultipartBoundary.parse(contentType: type) }
        #expect(error?.code == .invalidResponse)
    }

    @Test(
        "another type is unexpectedContentType",
        arguments: [
            "", "text/html", "multipart", "multipart/", "multipartx/mixed; boundary=b", "text/multipart",
            "; boundary=b",
        ])
    func otherTypes(type: String) {
        let error = #expect(throws: NetworkError.self) { try MultipartBoundary.parse(contentType: type) }
        #expect(error?.code == .unexpectedContentType)
    }

    // MARK: Python's parser

    private struct Read: Decodable {
        var fields: [[String]]
        var body: Data
    }

    @Test("500 random bodies have the parts that Python's email parser reads", .needsPython)
    func random() async throws {
        let script = """
            import base64, email, json, re, sys
            bodies = []
            for number in range(int(sys.argv[2])):
                message = email.message_from_bytes(open(f"{sys.argv[1]}/{number}", "rb").read())
                bodies.append([{
                    "fields": [[name, re.sub(r"\\r?\\n[ \\t]+", " ", value).strip()] for name, value in part.raw_items()],
                    "body": base64.b64encode(part.get_payload(decode=True)).decode(),
                } for part in message.get_payload()])
            print(json.dumps(bodies))
            """
        var generator = SeededGenerator(seed: 2_046)
        let count = 500
        let bodies = (0..<count).map { _ in RandomMultipart(&generator) }
        let read = try await withFolder { folder in
            for (index, body) in bodies.enumerated() {
                let head = "Content-Type: multipart/mixed; boundary=\"\(body.boundary)\"\r\n\r\n"
                try (Data(head.utf8) + body.bytes).write(to: folder.appendingPathComponent("\(index)"))
            }
            return try JSONDecoder().decode([[Read]].self, from: try Python.run(script, folder.path, String(count)))
        }
        #expect(read.count == count)
        #expect(read.joined().count > 1_000)
        for (body, expected) in zip(bodies, read) {
            var chunks: [Data] = []
            var rest = body.bytes[...]
            while !rest.isEmpty {
                let chunk = rest.prefix(Int.random(in: 1...(generator.oneIn(2) ? 5 : 500), using: &generator))
                chunks.append(Data(chunk))
                rest = rest.dropFirst(chunk.count)
            }
            let parts = try parts(chunks, boundary: body.boundary)
            let fields = parts.map { $0.headers.map { [$0.name, $0.value] } }
            #expect(fields == expected.map(\.fields), "\(String(decoding: body.bytes, as: UTF8.self).debugDescription)")
            #expect(parts.map(\.body) == expected.map(\.body))
        }
    }
}

/// A well-formed body with difficult content: boundary look-alikes, padding, folding, empty parts, both line ends.
private struct RandomMultipart {
    let boundary: String
    let bytes: Data

    init(_ generator: inout SeededGenerator) {
        let length = generator.oneIn(5) ? 70 : Int.random(in: 1...12, using: &generator)
        let boundary = String((0..<length).map { _ in "ab01'()+_,-./:=?".randomElement(using: &generator) ?? "a" })
        // Python treats a lone LF before a boundary as a line end everywhere, this scanner only in bodies with LF.
        let usesLF = generator.oneIn(4)
        let end = usesLF ? "\n" : "\r\n"
        func either(_ generator: inout SeededGenerator) -> String { generator.oneIn(8) ? "\n" : end }
        func padding(_ generator: inout SeededGenerator) -> String { generator.oneIn(6) ? " \t  " : "" }
        func lookAlikes(_ generator: inout SeededGenerator) -> Data {
            var data = Data()
            for _ in 0..<Int.random(in: 0...12, using: &generator) {
                switch Int.random(in: 0..<9, using: &generator) {
                case 0: data += "\(end)--\(boundary)X\(end)".utf8
                case 1: data += "x--\(boundary)\(end)".utf8
                case 2: data += "\(end)--\(boundary.dropLast())%\(end)".utf8
                case 3: data += "\(end)--\(boundary)- \(end)".utf8
                case 4: data += "\(end) --\(boundary)\(end)".utf8
                case 5: data += end.utf8
                case 6: data += "\(end)--~".utf8
                case 7: data += (0..<20).map { _ in UInt8.random(in: 0...255, using: &generator) }
                default: data += "A: text \(end)".utf8
                }
            }
            return data
        }
        var bytes = Data()
        if generator.oneIn(3) { bytes += lookAlikes(&generator) + Data(end.utf8) }
        for index in 0..<Int.random(in: 1...6, using: &generator) {
            if index > 0 { bytes += end.utf8 }
            bytes += "--\(boundary)\(padding(&generator))\(index == 0 ? end : either(&generator))".utf8
            for _ in 0..<Int.random(in: 0...4, using: &generator) {
                bytes += "X-\(generator.word()): \(generator.word())".utf8
                if generator.oneIn(4) { bytes += "\(either(&generator))\t\(generator.word())".utf8 }
                bytes += either(&generator).utf8
            }
            bytes += either(&generator).utf8
            var content = generator.oneIn(5) ? Data() : lookAlikes(&generator)
            if usesLF, content.last == UInt8(ascii: "\r") { content.append(UInt8(ascii: ".")) }
            bytes += content
        }
        bytes += "\(end)--\(boundary)--\(padding(&generator))".utf8
        if !generator.oneIn(3) { bytes += Data(end.utf8) + lookAlikes(&generator) }
        self.boundary = boundary
        self.bytes = bytes
    }
}

extension String {
    /// Returns the first `count` bytes of an ASCII text.
    fileprivate func prefix(count: Int) -> String {
        String(decoding: utf8.prefix(count), as: UTF8.self)
    }
}
