import Foundation

extension NetworkRouter {
    /// Performs a request and gives the response as soon as its head is there and its status is accepted; its body is
    /// read from ``NetworkResponse/bytes`` as it arrives.
    ///
    /// ``Timeouts/total`` ends with the head, ``Timeouts/idle`` and ``Timeouts/attempt`` with the body.
    ///
    /// - Throws: ``NetworkError``, with the code of the status when it was not accepted; `CancellationError` when the
    ///   task or the router was cancelled.
    public func streamedResponse(for endPoint: EndPoint) async throws -> NetworkResponse {
        try await streamedResponse(for: endPoint, accept: "*/*")
    }

    /// The body of a response in chunks, as it arrives.
    ///
    /// ```swift
    /// for try await chunk in router.bytes(for: .export) { try file.write(contentsOf: chunk) }
    /// ```
    ///
    /// The request is sent when the first chunk is asked for, once. The reader sets the pace; one that stops early, or
    /// whose task is cancelled, closes the exchange. Reading throws what ``streamedResponse(for:)`` throws, and the
    /// error of a body that ends early.
    public func bytes(for endPoint: EndPoint) -> ResponseBytes {
        ResponseBytes(opening: { try await streamedResponse(for: endPoint).bytes })
    }

    /// The lines of a text in UTF-8, as they arrive: ``bytes(for:)`` by ``ResponseBytes/lines(limit:)``.
    ///
    /// - Parameters:
    ///   - endPoint: What to ask for.
    ///   - limit: The most bytes of a line. More is ``NetworkError/Code/responseTooLarge``. Default 1 MiB.
    /// - Returns: The lines, read once.
    public func lines(for endPoint: EndPoint, limit: Int = 1 << 20) -> ResponseElements<String> {
        bytes(for: endPoint).lines(limit: limit)
    }

    /// The server-sent events of an endpoint ([HTML
    /// §9.2](https://html.spec.whatwg.org/multipage/server-sent-events.html)), over as many connections as it takes.
    ///
    /// ```swift
    /// for try await event in router.events(for: .ticker) { show(event.data) }
    /// ```
    ///
    /// When the connection is lost or ends, it is made again: with the `Last-Event-ID` of the last whole event, after
    /// the time that the server's `retry` asked for, or else the policy's; longer after each connection that gave no
    /// event. A 204 ends the events. Reading throws the error of the first connection, of a status other than 200, of a
    /// type other than `text/event-stream`, and of the policy's last attempt in a row. A request that is not idempotent
    /// is sent once: its events end with its response.
    ///
    /// - Parameters:
    ///   - endPoint: What to ask for.
    ///   - lastEventID: The ID of the last event that is known from before; none by default.
    ///   - policy: How often in a row it may fail to connect again, how long it waits, and by which clock. Nil to
    ///     connect once. Default 10 attempts, 3 seconds, at most 5 minutes.
    ///   - idleTimeout: How long the server may be silent, comments included, until the connection counts as lost. Nil,
    ///     the default, for the ``Timeouts/idle`` of the endpoint or router.
    ///   - limit: The most bytes of a line, and of an event's data. More is ``NetworkError/Code/responseTooLarge``.
    ///     Default 1 MiB.
    /// - Returns: The events, read once.
    public func events(
        for endPoint: EndPoint, lastEventID: String = "", reconnecting policy: RetryPolicy? = .forEvents,
        idleTimeout: Duration? = nil, limit: Int = 1 << 20
    ) -> ResponseElements<ServerSentEvent> {
        let source = eventSource(endPoint, lastEventID, policy, idleTimeout, limit)
        let environment = LastingEnvironment { environmentNow }
        return ResponseElements(more: { try await environment.value.run { try await held { try await source.more() } } }
        )
    }

    private func eventSource(
        _ endPoint: EndPoint, _ lastEventID: String, _ policy: RetryPolicy?, _ idleTimeout: Duration?, _ limit: Int
    ) -> EventSource<EventStreamParser> {
        EventSource(EventStreamParser(limit: limit, lastEventID: lastEventID), policy: policy) { lastEventID in
            try await streamedResponse(for: endPoint, accept: "text/event-stream") { request in
                if !lastEventID.isEmpty { request.headers["Last-Event-ID"] = lastEventID }
                if !request.headers.contains("Cache-Control") { request.headers.add("Cache-Control", "no-store") }
                if let idleTimeout { request.timeouts.idle = idleTimeout }
            }
        }
    }

    /// The data of an endpoint's server-sent events, decoded; the rest as in
    /// ``events(for:lastEventID:reconnecting:idleTimeout:limit:)``.
    ///
    /// - Parameters:
    ///   - endPoint: What to ask for.
    ///   - type: What the data of an event decodes to. Reading throws ``NetworkError/Code/decodingFailed``, with the key
    ///     path, for an event that is no such value.
    ///   - last: The data that ends the events, `[DONE]` for instance; none by default.
    ///   - decoder: Decodes the data.
    ///   - lastEventID: The ID of the last event that is known from before; none by default.
    ///   - policy: How often in a row it may fail to connect again, how long it waits, and by which clock.
    ///   - idleTimeout: How long the server may be silent until the connection counts as lost.
    ///   - limit: The most bytes of a line, and of an event's data. Default 1 MiB.
    /// - Returns: The values, read once.
    public func events<Value: Decodable & Sendable>(
        for endPoint: EndPoint, as type: Value.Type, until last: String? = nil, decoder: JSONDecoder = JSONDecoder(),
        lastEventID: String = "", reconnecting policy: RetryPolicy? = .forEvents, idleTimeout: Duration? = nil,
        limit: Int = 1 << 20
    ) -> ResponseElements<Value> {
        let source = eventSource(endPoint, lastEventID, policy, idleTimeout, limit)
        let events = DecodedEvents<Value>(source, until: last, decoder: decoder)
        let environment = LastingEnvironment { environmentNow }
        return ResponseElements(more: { try await environment.value.run { try await held { try await events.more() } } }
        )
    }

    func streamedResponse(
        for endPoint: EndPoint, accept: String?, options: RequestOptions = RequestOptions(),
        changing change: @Sendable (inout NetworkRequest) -> Void = { _ in }
    ) async throws -> NetworkResponse {
        let response = try await exchange(endPoint, accept: accept, options: options) { request in
            request.options.destination = nil
            request.options.streamsResponse = true
            change(&request)
        }
        try response.handling.check(response)
        return response
    }
}

extension RetryPolicy {
    /// What ``NetworkRouter/events(for:lastEventID:reconnecting:idleTimeout:limit:)`` does unless it is told otherwise: 10
    /// attempts in a row, 3 seconds before the first, 5 minutes at most.
    public static let forEvents = RetryPolicy(
        maximumAttempts: 10, baseDelay: .seconds(3), maximumDelay: .seconds(300))
}
