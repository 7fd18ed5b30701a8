import Foundation
import Switchboard
import SwitchboardText

/// One server-sent event ([HTML §9.2](https://html.spec.whatwg.org/multipage/server-sent-events.html)).
public struct ServerSentEvent: Sendable, Hashable {
    /// The event's type, or `message` if the server states none.
    public var type: String
    /// The data, with its lines joined by LF.
    public var data: String
    /// The last event ID that the server sent, with this or an earlier event. Empty if it sent none. It may contain control
    /// characters other than NUL, CR and LF.
    public var id: String
    /// The last `retry` time of the server: the wait before a reconnection. Nil if it sent none.
    public var retry: Duration?

    /// Creates an event, for instance for a test.
    public init(type: String = "message", data: String, id: String = "", retry: Duration? = nil) {
        self.type = type
        self.data = data
        self.id = id
        self.retry = retry
    }

    /// Decodes the data, for a stream whose events have several types. If all events have one type, use
    /// `NetworkRouter.events(for:as:)`.
    ///
    /// - Throws: `NetworkError.Code.decodingFailed` with the key path.
    public func decode<Value: Decodable>(_ type: Value.Type, decoder: any ResponseDecoder) throws(NetworkError) -> Value
    {
        do {
            return try decoder.decode(type, from: Data(data.utf8).received(for: decoder))
        } catch {
            let reason = DecodingFailure.reason(error, in: Data(data.utf8), as: type, called: "the data")
            throw NetworkError(.decodingFailed, reason: reason, underlying: error)
        }
    }
}

/// Parses server-sent events with the algorithm of [HTML
/// §9.2.6](https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation).
struct EventStreamParser: StreamParser {
    private static let (dataName, eventName) = (Array("data".utf8), Array("event".utf8))
    private static let (idName, retryName) = (Array("id".utf8), Array("retry".utf8))
    private var lines: LineScanner
    private var isFirst = true
    private var type = ""
    private var data: [UInt8] = []
    private var hasData = false
    private var id: String
    private var hasNewID = false
    /// The ID of the last complete event, even of one without data.
    private var lastEventID: String
    /// The ID that a reconnecting client sends: the last ID that a header field can carry.
    private(set) var position: String
    /// The maximum number of bytes of an ID that is sent. Servers accept about 8 KiB for a whole head.
    private static let sentIDLimit = 4 << 10
    /// The last `retry` time of the server: the wait before a reconnection.
    private(set) var retry: Duration?
    let mediaType: String? = "text/event-stream"

    /// Creates a parser. `limit` is the maximum number of bytes of a line, and of an event's data.
    init(limit: Int, lastEventID: String = "") {
        self.lastEventID = lastEventID
        (id, position) = (lastEventID, Self.isSendable(lastEventID) ? lastEventID : "")
        lines = LineScanner(limit: limit)
    }

    private static func isSendable(_ id: String) -> Bool {
        id.utf8.count <= sentIDLimit && !id.utf8.contains(where: \.breaksFieldValue)
    }

    static var anElement: String { "an event" }

    static func recorded(_ event: ServerSentEvent) -> Data? {
        Data((event.type == "message" ? event.data : "\(event.type): \(event.data)").utf8)
    }

    /// Prepares for the bytes of a new connection. The last event ID and the `retry` time stay.
    mutating func restart() {
        lines = LineScanner(limit: lines.limit)
        isFirst = true
        (type, data, hasData, id, hasNewID) = ("", [], false, lastEventID, false)
    }

    /// Passes `body` the events that this chunk completes. An event that the end of the stream truncates is dropped.
    ///
    /// - Throws: `NetworkError.Code.responseTooLarge`.
    mutating func parse(_ chunk: Data?, _ body: (ServerSentEvent) -> Void) throws {
        guard let chunk else { return }
        var scanner = lines
        lines = LineScanner(limit: scanner.limit)  // keeps one owner of the bytes, to avoid a copy
        defer { lines = scanner }
        try scanner.scan(chunk) { line in
            if let event = try interpret(line) { body(event) }
        }
    }

    private mutating func interpret(_ line: ArraySlice<UInt8>) throws -> ServerSentEvent? {
        var line = line
        if isFirst { line = line.withoutMark }
        isFirst = false
        guard !line.isEmpty else { return dispatch() }
        let name = line[..<(line.firstIndex(of: .colon) ?? line.endIndex)]
        var value = line[name.endIndex...].dropFirst()
        if value.first == .space { value = value.dropFirst() }
        if name.elementsEqual(Self.dataName) {
            guard data.count + value.count < lines.limit else {
                throw NetworkError(.responseTooLarge, reason: "an event has more than \(lines.limit) bytes of data")
            }
            if hasData { data.append(.lineFeed) }
            data += value
            hasData = true
        } else if name.elementsEqual(Self.eventName) {
            type = String(decoding: value, as: UTF8.self)
        } else if name.elementsEqual(Self.idName) {
            if !value.contains(0) { (id, hasNewID) = (String(decoding: value, as: UTF8.self), true) }
        } else if name.elementsEqual(Self.retryName) {
            let isNumber = !value.isEmpty && value.allSatisfy(\.isDigit)
            if isNumber, let time = Int64(String(decoding: value, as: UTF8.self)) { retry = .milliseconds(time) }
        }
        return nil
    }

    private mutating func dispatch() -> ServerSentEvent? {
        defer {
            (type, hasData) = ("", false)
            data.removeAll(keepingCapacity: true)
        }
        // Only then, because a server may send millions of empty lines after a long ID.
        if hasNewID {
            hasNewID = false
            lastEventID = id
            if Self.isSendable(id) { position = id }
        }
        // A `data` line without a value counts: the event's data is then empty.
        guard hasData else { return nil }
        let name = type.isEmpty ? "message" : type
        return ServerSentEvent(type: name, data: String(decoding: data, as: UTF8.self), id: id, retry: retry)
    }
}
