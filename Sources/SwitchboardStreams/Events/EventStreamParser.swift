import Foundation
import Switchboard

/// Makes events of the bytes of a stream, by the algorithm of [HTML
/// §9.2.6](https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation).
struct EventStreamParser: StreamParser {
    private static let (dataName, eventName) = (Array("data".utf8), Array("event".utf8))
    private static let (idName, retryName) = (Array("id".utf8), Array("retry".utf8))
    private let limit: Int
    private var lines: LineScanner
    private var isFirst = true
    private var type = ""
    private var data: [UInt8] = []
    private var hasData = false
    private var id: String
    /// The last event ID that a client says when it connects again: that of the last whole event, even of one without
    /// data.
    private(set) var lastEventID: String
    var position: String { lastEventID }
    /// How long the server wants a client to wait before it connects again, as last said.
    private(set) var retry: Duration?
    let mediaType: String? = "text/event-stream"

    /// - Parameters:
    ///   - limit: The most bytes of a line, and of an event's data.
    ///   - lastEventID: What the connection before this one ended with.
    init(limit: Int, lastEventID: String = "") {
        self.limit = limit
        self.lastEventID = lastEventID
        id = lastEventID
        lines = LineScanner(limit: limit)
    }

    /// Begins with another connection's bytes. What was said about connecting again stays.
    mutating func restart() {
        lines = LineScanner(limit: limit)
        isFirst = true
        (type, data, hasData, id) = ("", [], false, lastEventID)
    }

    /// Hands out the events that are complete with this chunk. One that the stream's end cuts short is never given.
    ///
    /// - Throws: `NetworkError.Code.responseTooLarge`.
    mutating func parse(_ chunk: Data?, _ body: (ServerSentEvent) -> Void) throws {
        guard let chunk else { return }
        var scanner = lines
        lines = LineScanner(limit: limit)  // its bytes stay with one owner
        defer { lines = scanner }
        try scanner.scan(chunk) { line in
            if let event = try interpret(line) { body(event) }
        }
    }

    private mutating func interpret(_ line: ArraySlice<UInt8>) throws -> ServerSentEvent? {
        var line = line
        if isFirst, line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
        isFirst = false
        guard !line.isEmpty else { return dispatch() }
        let name = line[..<(line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex)]
        var value = line[name.endIndex...].dropFirst()
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        if name.elementsEqual(Self.dataName) {
            guard data.count + value.count < limit else {
                throw NetworkError(.responseTooLarge, reason: "an event has more than \(limit) bytes of data")
            }
            if hasData { data.append(UInt8(ascii: "\n")) }
            data += value
            hasData = true
        } else if name.elementsEqual(Self.eventName) {
            type = String(decoding: value, as: UTF8.self)
        } else if name.elementsEqual(Self.idName) {
            if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
        } else if name.elementsEqual(Self.retryName) {
            let isNumber = !value.isEmpty && value.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
            if isNumber, let time = Int64(String(decoding: value, as: UTF8.self)) { retry = .milliseconds(time) }
        }
        return nil
    }

    private mutating func dispatch() -> ServerSentEvent? {
        defer {
            (type, hasData) = ("", false)
            data.removeAll(keepingCapacity: true)
        }
        lastEventID = id
        // A line `data` without a value is data too: the algorithm's buffer is a LF then, and the event's data empty.
        guard hasData else { return nil }
        let name = type.isEmpty ? "message" : type
        return ServerSentEvent(type: name, data: String(decoding: data, as: UTF8.self), id: id, retry: retry)
    }
}
