import Foundation
import Switchboard
import SwitchboardJSON
import SwitchboardPlatform
import SwitchboardText

extension NetworkRouter {
    /// Returns the values of a body with one JSON text per line, as they arrive.
    ///
    /// The request accepts `application/x-ndjson` and similar types, unless the endpoint sets `Accept`. Empty lines are
    /// skipped. Reading throws `NetworkError.Code.decodingFailed` with the line number for a line that cannot be
    /// decoded.
    ///
    /// - Parameters:
    ///   - endPoint: The endpoint.
    ///   - type: The type of a line, which the decoder of the options decodes.
    ///   - options: Options for this call. They override those of the endpoint. Default none.
    ///   - limit: The maximum number of bytes of a line. A longer one throws `NetworkError.Code.responseTooLarge`.
    ///     Default 1 MiB.
    ///   - isolation: The actor on which the endpoint is read: the caller's.
    /// - Returns: The values, to be read once.
    public func jsonLines<Value: Decodable & Sendable>(
        for endPoint: EndPoint, as type: Value.Type, options: RequestOptions = RequestOptions(),
        limit: Int = 1 << 20, isolation: isolated (any Actor)? = #isolation
    ) -> ResponseSequence<Value> {
        DecodedBytes(of: prepare(endPoint, options, accept: jsonLineTypes)).jsonLines(as: type, limit: limit, on: nil)
    }

    /// Returns the values of a body with one JSON text per line, decoded on the caller's actor; see
    /// `NetworkRouter.request(_:as:options:isolation:)`.
    public func jsonLines<Value: Decodable>(
        for endPoint: EndPoint, as type: Value.Type, options: RequestOptions = RequestOptions(),
        limit: Int = 1 << 20, isolation: isolated any Actor = #isolation
    ) -> ResponseSequence<Value> {
        DecodedBytes(of: prepare(endPoint, options, accept: jsonLineTypes))
            .jsonLines(as: type, limit: limit, on: isolation)
    }

    /// Returns the values of JSON lines, and reconnects as needed: each line contains the position at which the next
    /// connection starts.
    ///
    /// ```swift
    /// let changes = router.jsonLines(
    ///     as: Change.self, cursor: \.sequence, for: { .changes(since: $0) })
    /// for try await change in changes { show(change) }
    /// ```
    ///
    /// When a connection ends or is lost, the next request has the cursor of the last complete line. Waits and limits
    /// are those of ``events(for:lastEventID:options:limit:isolation:)``, and the wait grows with each connection without a line.
    /// A line that a lost connection truncates is dropped. The values end with a 204, or when the reader stops. A
    /// request that is not idempotent is sent once.
    ///
    /// - Parameters:
    ///   - type: The type of a line, which the decoder of the options decodes.
    ///   - position: The cursor to start at. Nil, the default, starts at the endpoint's beginning.
    ///   - cursor: Returns the cursor of a line, or nil for a line without one.
    ///   - endPoint: Returns the endpoint for the lines after a cursor, which is nil at the beginning.
    ///   - options: Options for the requests of this stream, which override those of the endpoint. Default none.
    ///   - limit: The maximum number of bytes of a line. Default 1 MiB.
    ///   - isolation: The actor on which the endpoints are read: the caller's.
    /// - Returns: The values, to be read once.
    public func jsonLines<Value: Decodable & Sendable, Cursor: Sendable>(
        as type: Value.Type, after position: Cursor? = nil, cursor: @escaping @Sendable (Value) -> Cursor?,
        for endPoint: @escaping @Sendable (Cursor?) -> EndPoint, options: RequestOptions = RequestOptions(),
        limit: Int = 1 << 20, isolation: isolated (any Actor)? = #isolation
    ) -> ResponseSequence<Value> {
        let decoding = ResponseDecoding()
        let parser = JSONLineParser(limit: limit, position: position, cursor: cursor) { data in
            try decoding.run { try $0.decode(type, from: data.received(for: $0)) }
        }
        let call = LongCall(on: calls, default: .forStreams)
        let prepare = ActorBound { self.prepare(endPoint($0), options, accept: jsonLineTypes) }
        let source = EventSource(parser, in: call) { position in
            let response = try await prepare(position).value.stream { request throws(NetworkError) in
                // A cache would answer the next request with the lines of this one.
                try call.join(&request) { $0.headers.addMissing(["Cache-Control": "no-store"]) }
            }
            decoding.resolve(response.request)
            return response
        }
        return calls.elements(of: call) { try await source.more() }
    }
}

private let jsonLineTypes = "application/x-ndjson, application/jsonl, application/json;q=0.9"

/// Parses lines with one JSON text each into values.
struct JSONLineParser<Value, Cursor: Sendable>: StreamParser {
    /// Decodes a line.
    private let decode: (Data) throws -> Value
    private let cursor: (Value) -> Cursor?
    private var lines: LineScanner
    private var number = 0
    /// The cursor of the last value that had one.
    private(set) var position: Cursor?
    let retry: Duration? = nil
    let mediaType: String? = nil

    /// Creates a parser. `position` is the cursor of the previous connection.
    init(
        limit: Int, position: Cursor?, cursor: @escaping (Value) -> Cursor?,
        decode: @escaping (Data) throws -> Value
    ) {
        lines = LineScanner(limit: limit)
        self.position = position
        self.cursor = cursor
        self.decode = decode
    }

    static var anElement: String { "a line" }

    mutating func restart() {
        lines = LineScanner(limit: lines.limit)
    }

    mutating func parse(_ chunk: Data?, _ body: (Value) -> Void) throws {
        var scanner = lines
        lines = LineScanner(limit: scanner.limit)  // keeps one owner of the bytes, to avoid a copy
        defer { lines = scanner }
        try scanner.scan(chunk) { line in
            number += 1
            guard !line.allSatisfy(\.isBlank) else { return }
            let data = Data(line)
            let value: Value
            do {
                value = try decode(data)
            } catch {
                let reason = DecodingFailure.reason(error, in: data, as: Value.self, called: "the line")
                throw NetworkError(.decodingFailed, reason: "line \(number): \(reason)", underlying: error)
            }
            if let cursor = cursor(value) { position = cursor }
            body(value)
        }
    }
}
