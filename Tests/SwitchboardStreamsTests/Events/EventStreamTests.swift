import Foundation
import SwitchboardTesting
import Testing

@testable import Switchboard
import SwitchboardTestSupport
@testable import SwitchboardStreams

/// Lines and server-sent events in chunks split anywhere. The expected events are those of HTML §9.2 and of the
/// eventsource folder of web-platform-tests, as the vectors' notes quote them.
@Suite(.timeLimit(.minutes(10)))
struct EventStreamTests {
    private func event(_ data: String, type: String = "message", id: String = "") -> ServerSentEvent {
        ServerSentEvent(type: type, data: data, id: id)
    }

    /// Expects the events of a stream in two chunks, split at every byte, and byte by byte.
    private func expect(_ text: String, _ expected: [ServerSentEvent], line: Int = #line) throws {
        let bytes = Array(text.utf8)
        var cuts = (0...bytes.count).map { [Data(bytes[..<$0]), Data(bytes[$0...])] }
        cuts.append(bytes.map { Data([$0]) })
        for chunks in cuts {
            var parser = EventStreamParser(limit: 1_000)
            let events = try chunks.flatMap { try parser.events(in: $0) }
            #expect(
                events == expected, "cut at \(chunks[0].count)",
                sourceLocation: .init(fileID: #fileID, filePath: #filePath, line: line, column: 1))
        }
    }

    @Test("parses the event-stream vectors, split at every byte boundary")
    func vectors() throws {
        try expect(
            "data:\0\ndata:  2\rData:1\ndata\0:2\ndata:1\r\0data:4\nda-ta:3\rdata_5\ndata:3\rdata:\r\n data:32\ndata:4\n\n",
            [event("\0\n 2\n1\n3\n\n4")])
        try expect("data:test\r\ndata\ndata:test\r\n\r", [event("test\n\ntest")])
    }

    // The examples of HTML §9.2.6.
    @Test("parses the examples of the standard, split at every byte boundary")
    func examples() throws {
        try expect("data: YHOO\ndata: +2\ndata: 10\n\n", [event("YHOO\n+2\n10")])
        try expect(
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
            [event("first event", id: "1"), event("second event"), event(" third event")])
        try expect("data\n\ndata\ndata\n\ndata:", [event(""), event("\n")])
        try expect("data:test\n\ndata: test\n\n", [event("test"), event("test")])
        try expect(
            "event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\nevent: add\ndata: 113411\n\n",
            [event("73857293", type: "add"), event("2153", type: "remove"), event("113411", type: "add")])
    }

    @Test("empty lines after a long ID take no time of their own")
    func emptyLines() {
        let growth = growth(
            from: 500, to: 4_000,
            of: { Data(("id: " + String(repeating: "x", count: $0) + String(repeating: "\n", count: 50_000)).utf8) }
        ) { chunk in
            var parser = EventStreamParser(limit: 10_000)
            #expect((try? parser.events(in: chunk))?.isEmpty == true)
            #expect(parser.position.utf8.count >= 500)
        }
        #expect(growth < 3)
    }

    @Test("handles a BOM, an id with NUL, split characters and unfinished events")
    func details() throws {
        try expect("\u{FEFF}data: a\n\n", [event("a")])
        try expect("\u{FEFF}\u{FEFF}data: a\n\ndata: b\n\n", [event("b")])
        try expect("id: 1\ndata: a\n\nid: 2\0\ndata: b\n\n", [event("a", id: "1"), event("b", id: "1")])
        try expect("data: whole\n\ndata: half\n", [event("whole")])
        try expect("data: é🎬日本\n\n", [event("é🎬日本")])
        try expect("event: none\n\n\n\ndata: a\n\n", [event("a")])
        try expect("", [])
    }

    @Test(
        "only digits set a retry",
        arguments: [
            ("3000", Duration.seconds(3)), ("0", .zero), ("-1", nil), ("1.5", nil), ("", nil), ("1s", nil), ("९", nil),
        ])
    func retries(text: String, retry: Duration?) throws {
        var parser = EventStreamParser(limit: 100)
        #expect(try parser.events(in: Data("retry: \(text)\ndata: a\n\n".utf8)).map(\.retry) == [retry])
    }

    @Test("a line or an event beyond the limit is refused")
    func limits() throws {
        var long = EventStreamParser(limit: 1 << 20)
        let piece = Data(repeating: UInt8(ascii: "x"), count: 100_000)
        let error = #expect(throws: NetworkError.self) { for _ in 0..<100 { _ = try long.events(in: piece) } }
        #expect(error?.code == .responseTooLarge)
        var endless = EventStreamParser(limit: 10_000)
        let line = Data("data: 0123456789\n".utf8)
        let other = #expect(throws: NetworkError.self) { for _ in 0..<1_000 { _ = try endless.events(in: line) } }
        #expect(other?.reason == "an event has more than 10000 bytes of data")
        var fits = EventStreamParser(limit: 11)
        #expect(try fits.events(in: Data("data:12345\n\n".utf8)).map(\.data) == ["12345"])
    }

    @Test("lines end by LF, CRLF or CR in any chunks; the last needs no end")
    func lines() throws {
        for (text, expected) in [
            ("a\nb\r\nc\rd", ["a", "b", "c", "d"]), ("", []), ("\n", [""]), ("\r\n\r\n", ["", ""]), ("\n\r", ["", ""]),
            ("a\n\nb\n", ["a", "", "b"]), ("é", ["é"]),
        ] {
            let bytes = Array(text.utf8)
            for cut in 0...bytes.count {
                var scanner = LineScanner(limit: 100)
                var lines: [String] = []
                for chunk in [bytes[..<cut], bytes[cut...], nil] {
                    try scanner.scan(chunk.map { Data($0) }) { lines.append(String(decoding: $0, as: UTF8.self)) }
                }
                #expect(lines == expected, "\(text.debugDescription) cut at \(cut)")
            }
        }
    }

    @Test("a streamed response is read as lines or events; a break is an error")
    func responses() async throws {
        let session = StubSession(
            .text("one\ntwo\nthree").chunked(2), .text("data: a\n\ndata: b\n\ndata: c").chunked(3),
            .text("data: a\n\ndata: b\n\n").chunked(4).truncated(after: 12))
        let options = RequestOptions { $0.streamsResponse = true }
        let request = NetworkRequest(.get, URL(text: "http://h.test/"), options: options)
        let lines = try await session.send(request).bytes.lines().elements()
        #expect(lines == ["one", "two", "three"])
        let data = try await session.send(request).bytes.events().elements().map(\.data)
        #expect(data == ["a", "b"])
        var broken: [String] = []
        let response = try await session.send(request)
        let error = await #expect(throws: NetworkError.self) {
            for try await event in response.bytes.events() { broken.append(event.data) }
        }
        #expect(broken == ["a"])
        #expect(error?.code == .truncatedBody)
    }

    @Test("the first line has no byte-order mark")
    func mark() async throws {
        let session = StubSession(.text("\u{FEFF}id,n\n\u{FEFF}1,2").chunked(2))
        let request = NetworkRequest(
            .get, URL(text: "http://h.test/"), options: RequestOptions { $0.streamsResponse = true })
        let lines = try await session.send(request).bytes.lines().elements()
        #expect(lines == ["id,n", "\u{FEFF}1,2"])
    }

    @Test("an event's data is decoded from JSON, or the error names the key path")
    func decoding() throws {
        struct Price: Decodable, Equatable { let cents: Int }
        #expect(try event(#"{"cents": 5}"#).decode(Price.self, decoder: JSONDecoder()) == Price(cents: 5))
        let error = #expect(throws: NetworkError.self) {
            try event(#"{"cents": "x"}"#).decode(Price.self, decoder: JSONDecoder())
        }
        #expect(error?.code == .decodingFailed)
        #expect(error?.reason?.contains("cents") == true)
    }
}

extension EventStreamParser {
    fileprivate mutating func events(in chunk: Data) throws -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        try parse(chunk) { events.append($0) }
        return events
    }
}
