import Foundation
import Switchboard
import SwitchboardJSON
import SwitchboardPlatform

extension NetworkRouter {
    /// The values of a body that has one JSON text in each line, as they arrive.
    ///
    /// Asks for `application/x-ndjson` and its like, unless the endpoint says what it accepts. Empty lines are passed
    /// over. Reading throws `NetworkError.Code.decodingFailed` with the number of the line for one that is no such
    /// value.
    ///
    /// - Parameters:
    ///   - endPoint: What to ask for.
    ///   - type: What a line decodes to.
    ///   - decoder: Decodes the lines. Nil, the default, for the one of the response handling.
    ///   - limit: The most bytes of a line. More is `NetworkError.Code.responseTooLarge`. Default 1 MiB.
    /// - Returns: The values, read once.
    public func jsonLines<Value: Decodable & Sendable>(
        for endPoint: EndPoint, as type: Value.Type, decoder: (any ResponseDecoder)? = nil, limit: Int = 1 << 20
    ) -> ResponseSequence<Value> {
        let found = Protected<(decoder: any ResponseDecoder, environment: CallEnvironment?)?>(nil)
        let bytes = ResponseBytes(opening: {
            let response = try await streamedResponse(for: endPoint, accept: jsonLineTypes)
            let (decoder, environment) = (decoder ?? response.handling.decoder, response.environment)
            found.withLock { $0 = (decoder, environment) }
            return response.bytes
        })
        return bytes.jsonLines(as: type, limit: limit) { type, data in
            guard let (decoder, environment) = found.value else {
                return try FastJSONDecoder.ofResponses.decode(type, from: data)
            }
            return try environment.run { try decoder.decode(type, from: data) }
        }
    }

    /// The values of JSON lines, over as many connections as it takes: each line says where the next connection begins.
    ///
    /// ```swift
    /// let changes = router.jsonLines(as: Change.self, cursor: \.sequence, of: { .changes(since: $0) })
    /// for try await change in changes { show(change) }
    /// ```
    ///
    /// When the connection is lost or ends, the endpoint is asked for again with the cursor of the last whole line, as
    /// ``events(for:lastEventID:options:limit:)`` does with the last event's ID: after the wait of its policy, longer after
    /// each connection that gave no line. A line that a lost connection cut short is not given. A 204 ends the values, and
    /// so does a reader that stops. A request that is not idempotent is sent once.
    ///
    /// - Parameters:
    ///   - type: What a line decodes to.
    ///   - position: The cursor to begin with. Nil, the default, for the endpoint's own beginning.
    ///   - cursor: The cursor of a line; nil for a line without one.
    ///   - endPoint: Asks for the lines behind a cursor, which is nil at the beginning.
    ///   - options: Options for the requests of this stream, which win over those of the endpoint. Default none.
    ///   - decoder: Decodes the lines. Nil, the default, for the one of the response handling.
    ///   - limit: The most bytes of a line. Default 1 MiB.
    /// - Returns: The values, read once.
    public func jsonLines<Value: Decodable & Sendable, Cursor: Sendable>(
        as type: Value.Type, after position: Cursor? = nil, cursor: @escaping @Sendable (Value) -> Cursor?,
        of endPoint: @escaping @Sendable (Cursor?) -> EndPoint, options: RequestOptions = RequestOptions(),
        decoder: (any ResponseDecoder)? = nil, limit: Int = 1 << 20
    ) -> ResponseSequence<Value> {
        let found = Protected(decoder)
        let parser = JSONLineParser(limit: limit, position: position, cursor: cursor) {
            try (found.value ?? FastJSONDecoder.ofResponses).decode(type, from: $0)
        }
        let call = LongCall(on: self, usually: .forStreams)
        let source = EventSource(parser, in: call) { position in
            let response = try await streamedResponse(
                for: endPoint(position), accept: jsonLineTypes, options: options
            ) { request throws(NetworkError) in try call.join(&request) { _ in } }
            found.withLock { $0 = $0 ?? response.handling.decoder }
            return response
        }
        return elements { try await source.more() }
    }
}

private let jsonLineTypes = "application/x-ndjson, application/jsonl, application/json;q=0.9"
