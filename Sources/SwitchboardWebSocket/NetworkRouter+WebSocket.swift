import Switchboard
import SwitchboardPlatform

extension NetworkRouter {
    /// Opens a WebSocket that sends and receives values. A `String` is a text message, `Data` a binary one, and any other
    /// value is JSON as text, by the endpoint's encoder and decoder. A socket of `Data` also receives text
    /// messages, as UTF-8, and a socket of `String` also binary ones.
    ///
    /// ```swift
    /// let socket = try await router.webSocket(
    ///     for: .chat, sending: String.self, receiving: Todo.self)
    /// ```
    ///
    /// The handshake is a GET of the endpoint's URL, with its headers, environment, credentials and interceptors. The
    /// total timeout covers it. The settings are the endpoint's `options.webSocket`.
    ///
    /// - Parameters:
    ///   - endPoint: The endpoint, whose method is GET.
    ///   - sending: The type of the messages to send.
    ///   - receiving: The type of the messages to receive.
    ///   - options: Options for this socket. They override those of its endpoint. Default none.
    ///   - clock: The clock for pings, the closing handshake, the body of a refusal and the waits before reconnecting.
    ///     Default the real one.
    ///   - isolation: The actor on which the endpoint is read: the caller's.
    ///   - onOpen: Called on each new connection, before other messages are sent on it, for instance to subscribe. The
    ///     closure gets a socket for this one connection, and the last message that the reader receives before those of
    ///     this connection, nil on the first one. An error that it throws ends the connection, whose unread messages
    ///     are not delivered. Default: does nothing.
    /// - Returns: The open socket.
    /// - Throws: `NetworkError` with the code of a status other than 101, such as `NetworkError.Code.unexpectedStatus`
    ///   for 200, `NetworkError.Code.invalidResponse` for an invalid 101, `NetworkError.Code.unsupported` when the
    ///   session cannot open WebSockets or lacks one of the options, the errors of `response(for:)`, and the error of
    ///   `onOpen` for the first connection, unchanged. That of a later connection is a `NetworkError` for the reader.
    public func webSocket<Outgoing: Encodable & Sendable, Incoming: Decodable & Sendable>(
        for endPoint: EndPoint, sending: Outgoing.Type, receiving: Incoming.Type,
        options: RequestOptions = RequestOptions(), clock: any Clock<Duration> = ContinuousClock(),
        isolation: isolated (any Actor)? = #isolation,
        onOpen: (@Sendable (WebSocket<Outgoing, Incoming>, _ last: Incoming?) async throws -> Void)? = nil
    ) async throws -> WebSocket<Outgoing, Incoming> {
        try await calls.socket(preparing(endPoint, options), clock, onOpen) { response in
            WebSocketCoding(
                encode: { try WebSocketMessage($0.value, for: response) },
                decode: { Transferred(try $0.decode(receiving, for: response)) })
        }
    }

    /// Opens a WebSocket that encodes and decodes its values on the caller's actor; see
    /// `webSocket(for:sending:receiving:options:clock:isolation:onOpen:)` and
    /// `NetworkRouter.request(_:as:options:isolation:)`.
    public func webSocket<Outgoing: Encodable, Incoming: Decodable>(
        for endPoint: EndPoint, sending: Outgoing.Type, receiving: Incoming.Type,
        options: RequestOptions = RequestOptions(), clock: any Clock<Duration> = ContinuousClock(),
        isolation: isolated any Actor = #isolation,
        onOpen: (@Sendable (WebSocket<Outgoing, Incoming>, _ last: Incoming?) async throws -> Void)? = nil
    ) async throws -> WebSocket<Outgoing, Incoming> {
        try await calls.socket(
            preparing(endPoint, options), clock, onOpen, encode: ActorBound { try WebSocketMessage($0, for: $1) },
            decode: ActorBound { try $0.decode(receiving, for: $1) })
    }

    /// Opens a WebSocket that sends and receives messages as they are; see
    /// `webSocket(for:sending:receiving:options:clock:isolation:onOpen:)`.
    public func webSocket(
        for endPoint: EndPoint, options: RequestOptions = RequestOptions(),
        clock: any Clock<Duration> = ContinuousClock(), isolation: isolated (any Actor)? = #isolation,
        onOpen: (
            @Sendable (WebSocket<WebSocketMessage, WebSocketMessage>, _ last: WebSocketMessage?) async throws -> Void
        )? = nil
    ) async throws -> WebSocket<WebSocketMessage, WebSocketMessage> {
        try await calls.socket(preparing(endPoint, options), clock, onOpen) { _ in
            WebSocketCoding(encode: { $0.value }, decode: { Transferred($0) })
        }
    }

    /// Returns a closure that reads the endpoint for each connection.
    private func preparing(
        _ endPoint: EndPoint, _ options: RequestOptions, isolation: isolated (any Actor)? = #isolation
    ) -> ActorBound<Void, PreparedCall> {
        ActorBound { self.prepare(endPoint, options) }
    }
}

extension RouterCalls {
    fileprivate func socket<Outgoing, Incoming>(
        _ prepare: ActorBound<Void, PreparedCall>, _ clock: any Clock<Duration>,
        _ onOpen: (@Sendable (WebSocket<Outgoing, Incoming>, Incoming?) async throws -> Void)?,
        encode: ActorBound<(Outgoing, NetworkResponse), WebSocketMessage>,
        decode: ActorBound<(WebSocketMessage, NetworkResponse), Incoming>
    ) async throws -> WebSocket<Outgoing, Incoming> {
        try await socket(prepare, clock, onOpen) { response in
            WebSocketCoding(
                encode: { try await encode(($0.value, response)).value }, decode: { try await decode(($0, response)) })
        }
    }

    fileprivate func socket<Outgoing, Incoming>(
        _ prepare: ActorBound<Void, PreparedCall>, _ clock: any Clock<Duration>,
        _ onOpen: (@Sendable (WebSocket<Outgoing, Incoming>, Incoming?) async throws -> Void)?,
        _ coding: @escaping @Sendable (NetworkResponse) -> WebSocketCoding<Outgoing, Incoming>
    ) async throws -> WebSocket<Outgoing, Incoming> {
        let (call, environment) = (LongCall(on: self, default: .forSockets(clock)), pinnedEnvironment)
        let opener = WebSocketOpener(prepare: prepare, clock: clock, call: call)
        let last = Protected<WebSocketMessage?>(nil)
        let open: @Sendable (_ unread: ArraySlice<WebSocketMessage>?) async throws -> WebSocketOpener.Opened = {
            unread in
            try await environment.run {
                let opened = try await opener.open()
                guard let onOpen else { return opened }
                let coding = coding(opened.response)
                let single = WebSocket(
                    ConnectionSeries(opened.connection), opened.subprotocol, coding, isOwner: false)
                do {
                    try await withOwnTask {
                        var value: Incoming?
                        for message in (unread ?? []).reversed() where value == nil {
                            // The reader gets the error of a message that does not decode.
                            value = try? await coding.decode(message).value
                        }
                        if value == nil, let last = last.value { value = try await coding.decode(last).value }
                        try await onOpen(single, value)
                    }
                    return opened
                } catch {
                    let loss = unread == nil ? nil : opened.connection.closure?.loss
                    opened.connection.cancel()
                    throw loss ?? error
                }
            }
        }
        let first: WebSocketOpener.Opened
        do {
            first = try await open(nil)
        } catch {
            _ = call.end(with: error)
            throw error
        }
        let reconnection = Reconnection(call: call) { unread in
            try await open(unread).connection
        } run: { reopen in
            // Of a canceled socket, only the error is left, also during a reset.
            guard !call.isCancelled else { throw CancellationError() }
            // The router's `cancel()` also ends the waits.
            return try await environment.run { try await self.asOneCall(reopen) }
        }
        let reconnects = first.response.options.webSocket.reconnects
        return WebSocket(
            ConnectionSeries(first.connection, reconnects ? reconnection : nil), first.subprotocol,
            coding(first.response), last: reconnects ? last : nil)
    }
}
