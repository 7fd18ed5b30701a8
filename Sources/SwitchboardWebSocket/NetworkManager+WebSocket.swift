import Switchboard

extension NetworkManager {
    /// Opens a WebSocket of any endpoint that sends and receives values; see
    /// `NetworkRouter.webSocket(for:sending:receiving:options:clock:onOpen:)`.
    public func webSocket<EndPoint: EndPointType, Outgoing: Encodable & Sendable, Incoming: Decodable & Sendable>(
        for endPoint: EndPoint, sending: Outgoing.Type, receiving: Incoming.Type,
        options: RequestOptions = RequestOptions(), clock: any Clock<Duration> = ContinuousClock(),
        isolation: isolated (any Actor)? = #isolation,
        onOpen: (@Sendable (WebSocket<Outgoing, Incoming>, _ last: Incoming?) async throws -> Void)? = nil
    ) async throws -> WebSocket<Outgoing, Incoming> {
        try await ownRouter().webSocket(
            for: endPoint, sending: sending, receiving: receiving, options: options, clock: clock, onOpen: onOpen)
    }

    /// Opens a WebSocket that encodes and decodes its values on the caller's actor; see
    /// `NetworkRouter.request(_:as:options:isolation:)`.
    public func webSocket<EndPoint: EndPointType, Outgoing: Encodable, Incoming: Decodable>(
        for endPoint: EndPoint, sending: Outgoing.Type, receiving: Incoming.Type,
        options: RequestOptions = RequestOptions(), clock: any Clock<Duration> = ContinuousClock(),
        isolation: isolated any Actor = #isolation,
        onOpen: (@Sendable (WebSocket<Outgoing, Incoming>, _ last: Incoming?) async throws -> Void)? = nil
    ) async throws -> WebSocket<Outgoing, Incoming> {
        try await ownRouter().webSocket(
            for: endPoint, sending: sending, receiving: receiving, options: options, clock: clock, onOpen: onOpen)
    }

    /// Opens a WebSocket of any endpoint that sends and receives messages as they are; see
    /// `webSocket(for:sending:receiving:options:clock:isolation:onOpen:)`.
    public func webSocket<EndPoint: EndPointType>(
        for endPoint: EndPoint, options: RequestOptions = RequestOptions(),
        clock: any Clock<Duration> = ContinuousClock(), isolation: isolated (any Actor)? = #isolation,
        onOpen: (
            @Sendable (WebSocket<WebSocketMessage, WebSocketMessage>, _ last: WebSocketMessage?) async throws -> Void
        )? = nil
    ) async throws -> WebSocket<WebSocketMessage, WebSocketMessage> {
        try await ownRouter().webSocket(for: endPoint, options: options, clock: clock, onOpen: onOpen)
    }
}
