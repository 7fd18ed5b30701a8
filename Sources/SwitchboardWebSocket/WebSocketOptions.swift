import Switchboard

/// The settings of a WebSocket.
public struct WebSocketOptions: Sendable, Hashable {
    /// The subprotocols that the client offers, in the order of preference. Default none.
    public var subprotocols: [String] = []
    /// The compression that the client offers. Default nil: none.
    public var compression: WebSocketCompression?
    /// The largest message that is received, in bytes, after decompression. A larger one ends the connection with
    /// ``WebSocketCloseCode/messageTooBig``. Default 16 MiB.
    public var messageLimit = 16 << 20
    /// The bytes of received messages that wait for the reader before the server must wait. One message may exceed
    /// them. Default 1 MiB. While a ping waits for its answer, which may be behind them, 16 times as many are received.
    /// The server's Close frame is noticed when the messages in front of it are received, or when the server closes the
    /// connection.
    public var queueLimit = 1 << 20
    /// The time between pings. A ping that gets no answer before the next one is due ends the connection with
    /// `NetworkError.Code.timedOut`. Default nil: no pings.
    public var pingInterval: Duration?
    /// Whether the socket reconnects when its connection is lost, or when the server closes it for a time: with 1001,
    /// 1011, 1012, 1013 or 1014. Default false.
    ///
    /// `RequestOptions.retry` sets the waits, with jitter, and limits the attempts in a row that fail or deliver nothing.
    /// The default is 10 attempts, with waits that double from 1 second up to 5 minutes. Its `errorCodes` and `statuses`
    /// are the failures after which the socket reconnects. A `RetryPolicy` of the chain shares the count. With a
    /// ``pingInterval`` the socket notices a connection that is silent.
    public var reconnects = false
    /// The time that the server has for its part of the closing handshake. Default 10 s.
    public var closeTimeout: Duration = .seconds(10)

    /// Creates settings with defaults.
    public init() {}
}

extension RequestOptions {
    /// The settings of a WebSocket that is opened for the endpoint. They have no effect on other calls.
    public var webSocket: WebSocketOptions {
        get { self[WebSocketOption.self] }
        set { self[WebSocketOption.self] = newValue }
    }
}

private enum WebSocketOption: RequestOption { static let defaultValue = WebSocketOptions() }
