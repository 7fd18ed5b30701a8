import Foundation
import Switchboard
import SwitchboardJSON

extension NetworkRouter {
    /// The server-sent events of an endpoint ([HTML
    /// §9.2](https://html.spec.whatwg.org/multipage/server-sent-events.html)), over as many connections as it takes.
    ///
    /// ```swift
    /// for try await event in router.events(for: .ticker) { show(event.data) }
    /// ```
    ///
    /// When the connection is lost or ends, it is made again: with the `Last-Event-ID` of the last whole event, after
    /// the time that the server's `retry` asked for, or else the first wait of `RequestOptions.retry`, which is 3 seconds
    /// where nothing is set; longer after each connection that gave no event, 5 minutes at most. So many attempts in a row
    /// may fail or give nothing, not even a comment, as the policy says, 10 where nothing is set; `RetryPolicy.never` connects once. A server that
    /// is silent, comments included, for longer than `Timeouts.idle` is a lost connection.
    ///
    /// A 204 ends the events. Reading throws the error of the first connection, of a status other than 200, of a type other
    /// than `text/event-stream`, and of the last attempt in a row. A request that is not idempotent is sent once: its
    /// events end with its response.
    ///
    /// - Parameters:
    ///   - endPoint: What to ask for.
    ///   - lastEventID: The ID of the last event that is known from before; none by default.
    ///   - options: Options for the requests of this stream, which win over those of the endpoint. Default none.
    ///   - limit: The most bytes of a line, and of an event's data. More is `NetworkError.Code.responseTooLarge`.
    ///     Default 1 MiB.
    /// - Returns: The events, read once.
    public func events(
        for endPoint: EndPoint, lastEventID: String = "", options: RequestOptions = RequestOptions(),
        limit: Int = 1 << 20
    ) -> ResponseSequence<ServerSentEvent> {
        let source = eventSource(endPoint, lastEventID, options, limit)
        return elements { try await source.more() }
    }

    private func eventSource(
        _ endPoint: EndPoint, _ lastEventID: String, _ options: RequestOptions, _ limit: Int
    ) -> EventSource<EventStreamParser> {
        let call = LongCall(on: self, usually: .forStreams)
        return EventSource(EventStreamParser(limit: limit, lastEventID: lastEventID), in: call) { lastEventID in
            try await streamedResponse(for: endPoint, accept: "text/event-stream", options: options) {
                request throws(NetworkError) in
                try call.join(&request) { request in
                    if !lastEventID.isEmpty { request.headers["Last-Event-ID"] = lastEventID }
                    if !request.headers.contains("Cache-Control") { request.headers.add("Cache-Control", "no-store") }
                }
            }
        }
    }

    /// The data of an endpoint's server-sent events, decoded; the rest as in
    /// ``events(for:lastEventID:options:limit:)``.
    ///
    /// - Parameters:
    ///   - endPoint: What to ask for.
    ///   - type: What the data of an event decodes to. Reading throws `NetworkError.Code.decodingFailed`, with the key
    ///     path, for an event that is no such value.
    ///   - last: The data that ends the events, `[DONE]` for instance; none by default.
    ///   - decoder: Decodes the data.
    ///   - lastEventID: The ID of the last event that is known from before; none by default.
    ///   - options: Options for the requests of this stream, which win over those of the endpoint. Default none.
    ///   - limit: The most bytes of a line, and of an event's data. Default 1 MiB.
    /// - Returns: The values, read once.
    public func events<Value: Decodable & Sendable>(
        for endPoint: EndPoint, as type: Value.Type, until last: String? = nil,
        decoder: any ResponseDecoder = FastJSONDecoder(),
        lastEventID: String = "", options: RequestOptions = RequestOptions(), limit: Int = 1 << 20
    ) -> ResponseSequence<Value> {
        let source = eventSource(endPoint, lastEventID, options, limit)
        return elements { try await source.more(as: type, until: last, decoder: decoder) }
    }

    /// What comes over several connections, all of them in the environment of the first.
    func elements<Element: Sendable>(
        _ more: @escaping @Sendable () async throws -> [Element]?
    ) -> ResponseSequence<Element> {
        let environment = LastingEnvironment { environmentNow }
        return ResponseSequence(more: { try await environment.value.run { try await held(more) } })
    }
}

extension RetryPolicy {
    /// For streams that connect again.
    static let forStreams = RetryPolicy(maximumAttempts: 10, baseDelay: .seconds(3), maximumDelay: .seconds(300))
}
