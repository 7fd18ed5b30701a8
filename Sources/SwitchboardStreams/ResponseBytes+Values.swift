import Foundation
import Switchboard
import SwitchboardJSON
import SwitchboardPlatform

extension ResponseBytes {
    /// Returns the body as server-sent events, by the algorithm of [HTML
    /// §9.2.6](https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation). Comments
    /// and unknown fields are skipped, and an event that the end truncates is dropped.
    ///
    /// - Parameter limit: The maximum number of bytes of a line, and of an event's data. A larger one throws
    ///   `NetworkError.Code.responseTooLarge`. Default 1 MiB.
    /// - Returns: The events of this connection, to be read once.
    public func events(limit: Int = 1 << 20) -> ResponseSequence<ServerSentEvent> {
        var parser = EventStreamParser(limit: limit)
        return ResponseSequence(self) { chunk, events in
            if let chunk { try parser.parse(chunk) { events.append($0) } }
        }
    }

    /// Returns the body as values, one JSON text per line.
    ///
    /// - Parameters:
    ///   - type: The type of a decoded line. Empty lines are skipped. Any other line that cannot be decoded throws
    ///     `NetworkError.Code.decodingFailed` with the line number.
    ///   - decoder: Decodes the lines. Nil, the default, uses the decoder of the request's options.
    ///   - limit: The maximum number of bytes of a line. A longer one throws `NetworkError.Code.responseTooLarge`.
    ///     Default 1 MiB.
    ///   - isolation: The caller's actor. It selects this function; the values are decoded elsewhere.
    /// - Returns: The values, to be read once.
    public func jsonLines<Value: Decodable & Sendable>(
        as type: Value.Type, decoder: (any ResponseDecoder)? = nil, limit: Int = 1 << 20,
        isolation: isolated (any Actor)? = #isolation
    ) -> ResponseSequence<Value> {
        DecodedBytes(self, decoder).jsonLines(as: type, limit: limit, on: nil)
    }

    /// Returns the body as values, one JSON text per line, decoded on the caller's actor; see
    /// `NetworkRouter.request(_:as:options:isolation:)`.
    public func jsonLines<Value: Decodable>(
        as type: Value.Type, decoder: (any ResponseDecoder)? = nil, limit: Int = 1 << 20,
        isolation: isolated any Actor = #isolation
    ) -> ResponseSequence<Value> {
        DecodedBytes(self, decoder).jsonLines(as: type, limit: limit, on: isolation)
    }
}

extension DecodedBytes {
    func jsonLines<Value: Decodable>(
        as type: Value.Type, limit: Int, on actor: (any Actor)?
    ) -> ResponseSequence<Value> {
        let decoding = decoding
        var parser = JSONLineParser<Value, Never>(limit: limit, position: nil, cursor: { _ in nil }) { line in
            try decoding.run { try $0.decode(type, from: line.received(for: $0)) }
        }
        return ResponseSequence(bytes, on: actor) { chunk, values in
            try parser.parse(chunk) { values.append($0) }
        }
    }
}
