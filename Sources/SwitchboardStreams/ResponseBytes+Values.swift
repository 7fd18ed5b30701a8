import Foundation
import Switchboard
import SwitchboardJSON

extension ResponseBytes {
    /// The body as server-sent events, by the algorithm of [HTML
    /// §9.2.6](https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation): comments and
    /// unknown fields are passed over, an event that the end cuts short is dropped.
    ///
    /// - Parameter limit: The most bytes of a line, and of an event's data. More is
    ///   `NetworkError.Code.responseTooLarge`. Default 1 MiB.
    /// - Returns: The events of this one connection, read once.
    public func events(limit: Int = 1 << 20) -> ResponseSequence<ServerSentEvent> {
        var parser = EventStreamParser(limit: limit)
        return ResponseSequence(self) { chunk, events in
            if let chunk { try parser.parse(chunk) { events.append($0) } }
        }
    }

    /// The body as values, one JSON text in each line.
    ///
    /// - Parameters:
    ///   - type: What a line decodes to. Empty lines are passed over; any other that is no such value is
    ///     `NetworkError.Code.decodingFailed` with the number of the line.
    ///   - decoder: Decodes the lines.
    ///   - limit: The most bytes of a line. More is `NetworkError.Code.responseTooLarge`. Default 1 MiB.
    /// - Returns: The values, read once.
    public func jsonLines<Value: Decodable & Sendable>(
        as type: Value.Type, decoder: any ResponseDecoder = FastJSONDecoder(), limit: Int = 1 << 20
    ) -> ResponseSequence<Value> {
        jsonLines(as: type, limit: limit) { try decoder.decode($0, from: $1) }
    }

    func jsonLines<Value: Decodable & Sendable>(
        as type: Value.Type, limit: Int, decode: @escaping @Sendable (Value.Type, Data) throws -> Value
    ) -> ResponseSequence<Value> {
        let none: @Sendable (Value) -> Never? = { _ in nil }
        var parser = JSONLineParser(limit: limit, position: nil, cursor: none) { try decode(type, $0) }
        return ResponseSequence(self) { chunk, values in
            try parser.parse(chunk) { values.append($0) }
        }
    }
}
