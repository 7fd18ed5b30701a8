import Foundation
import Switchboard
import SwitchboardJSON

extension NetworkRouter {
    /// Returns the server-sent events of an endpoint ([HTML
    /// §9.2](https://html.spec.whatwg.org/multipage/server-sent-events.html)), and reconnects as needed.
    ///
    /// ```swift
    /// for try await event in router.events(for: .ticker) { show(event.data) }
    /// ```
    ///
    /// When a connection ends or is lost, the next one sends the `Last-Event-ID` of the last complete event. An ID with
    /// a control character or of more than 4 KiB is delivered but not sent. The next connection then sends the previous
    /// ID, so the server may repeat events, and no event is lost. Before it reconnects, the client waits for the
    /// server's `retry` time, or else for the first wait of `RequestOptions.retry`, by default 3 seconds. The wait
    /// grows with each connection without an event. No wait is longer than the policy's `maximumDelay`, by default 5
    /// minutes, or shorter than 0.1 seconds, unless that limit is. The policy also limits the consecutive attempts that fail or deliver
    /// nothing, not even a comment, by default to 10. `RetryPolicy.never` connects once. A server that sends nothing
    /// for longer than `Timeouts.idle` counts as a lost connection.
    ///
    /// A 204 ends the events. Reading throws the error of the first connection and of the last consecutive attempt. It
    /// also throws for a status that is not accepted, by default any outside of 200 to 299, and for a type other than
    /// `text/event-stream`. A request that is not idempotent is sent once: its events end with its response.
    ///
    /// - Parameters:
    ///   - endPoint: The endpoint.
    ///   - lastEventID: The ID of the last event that the app already has. Empty, the default, for none.
    ///   - options: Options for the requests of this stream, which override those of the endpoint. Default none.
    ///   - limit: The maximum number of bytes of a line, and of an event's data. A larger one throws
    ///     `NetworkError.Code.responseTooLarge`. Default 1 MiB.
    ///   - isolation: The actor on which the endpoint is read, for each connection: the caller's.
    /// - Returns: The events, to be read once.
    public func events(
        for endPoint: EndPoint, lastEventID: String = "", options: RequestOptions = RequestOptions(),
        limit: Int = 1 << 20, isolation: isolated (any Actor)? = #isolation
    ) -> ResponseSequence<ServerSentEvent> {
        let source = eventSource(endPoint, lastEventID, options, limit)
        return calls.elements(of: source.call) { try await source.more() }
    }

    /// Returns the decoded data of an endpoint's server-sent events. Otherwise the same as
    /// ``events(for:lastEventID:options:limit:isolation:)``.
    ///
    /// - Parameters:
    ///   - endPoint: The endpoint.
    ///   - type: The type of an event's data, which the decoder of the options decodes. Reading throws
    ///     `NetworkError.Code.decodingFailed` with the key path for data that cannot be decoded.
    ///   - last: The data of the event that ends the stream, for instance `[DONE]`. Nil, the default, for none.
    ///   - lastEventID: The ID of the last event that the app already has. Empty, the default, for none.
    ///   - options: Options for the requests of this stream, which override those of the endpoint. Default none.
    ///   - limit: The maximum number of bytes of a line, and of an event's data. Default 1 MiB.
    ///   - isolation: The actor on which the endpoint is read, for each connection: the caller's.
    /// - Returns: The values, to be read once.
    public func events<Value: Decodable & Sendable>(
        for endPoint: EndPoint, as type: Value.Type, until last: String? = nil, lastEventID: String = "",
        options: RequestOptions = RequestOptions(), limit: Int = 1 << 20,
        isolation: isolated (any Actor)? = #isolation
    ) -> ResponseSequence<Value> {
        let decoding = ResponseDecoding()
        let source = eventSource(endPoint, lastEventID, options, limit, decoding)
        return calls.elements(of: source, until: last) { event in
            try decoding.run { Transferred(try event.decode(type, decoder: $0)) }
        }
    }

    /// Returns the decoded data of an endpoint's server-sent events, decoded on the caller's actor; see
    /// `NetworkRouter.request(_:as:options:isolation:)`.
    public func events<Value: Decodable>(
        for endPoint: EndPoint, as type: Value.Type, until last: String? = nil, lastEventID: String = "",
        options: RequestOptions = RequestOptions(), limit: Int = 1 << 20,
        isolation: isolated any Actor = #isolation
    ) -> ResponseSequence<Value> {
        let decoding = ResponseDecoding()
        let source = eventSource(endPoint, lastEventID, options, limit, decoding)
        let decode = ActorBound<ServerSentEvent, Value> { event in
            try decoding.run { try event.decode(type, decoder: $0) }
        }
        return calls.elements(of: source, until: last, decode.sendable)
    }

    /// Returns a source of events that reads the endpoint for each connection.
    private func eventSource(
        _ endPoint: EndPoint, _ lastEventID: String, _ options: RequestOptions, _ limit: Int,
        _ decoding: ResponseDecoding? = nil,
        isolation: isolated (any Actor)? = #isolation
    ) -> EventSource<EventStreamParser> {
        let call = LongCall(on: calls, default: .forStreams)
        let prepare = ActorBound<Void, PreparedCall> { self.prepare(endPoint, options, accept: "text/event-stream") }
        return EventSource(EventStreamParser(limit: limit, lastEventID: lastEventID), in: call) { lastEventID in
            let response = try await prepare(()).value.stream { request throws(NetworkError) in
                try call.join(&request) { request in
                    if !lastEventID.isEmpty { request.headers["Last-Event-ID"] = lastEventID }
                    request.headers.addMissing(["Cache-Control": "no-store"])
                }
            }
            decoding?.resolve(response.request)
            return response
        }
    }
}

extension RouterCalls {
    fileprivate func elements<Value>(
        of source: EventSource<EventStreamParser>, until last: String?,
        _ decode: @escaping @Sendable (ServerSentEvent) async throws -> Transferred<Value>
    ) -> ResponseSequence<Value> {
        elements(of: source.call) { try await source.more(until: last, decode: decode) }
    }

    /// Returns the elements of several connections, all in the environment of the first.
    func elements<Element>(
        of call: LongCall, _ more: @escaping @Sendable () async throws -> Transferred<[Element]>?
    ) -> ResponseSequence<Element> {
        let environment = pinnedEnvironment
        return ResponseSequence(more: {
            try await environment.run {
                // Of a canceled call, only the error is left, also during a reset.
                try await call.isCancelled ? more() : self.asOneCall(more)
            }
        })
    }
}

extension RetryPolicy {
    /// The default policy of streams that reconnect.
    static let forStreams = RetryPolicy(maximumAttempts: 10, baseDelay: .seconds(3), maximumDelay: .seconds(300))
}
