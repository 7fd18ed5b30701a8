import Switchboard

/// The settings of a WebSocket.
public struct WebSocketOptions: Sendable, Hashable {
    /// The subprotocols that the client offers, in the order of preference: tokens, each once. Others fail with
    /// `NetworkError.Code.invalidRequest`. After a redirect to another origin, none is offered unless
    /// `headersToOtherOrigins` has `Sec-WebSocket-Protocol`, because some servers expect a token there. Default none.
    public var subprotocols: [String] = []
    /// The compression that the client offers. Default nil: none. `FoundationSession` throws
    /// `NetworkError.Code.unsupported` for it, because URLSession decides about compression.
    public var compression: WebSocketCompression?
    /// The largest message that is received, in bytes, after decompression. A larger one ends the connection with
    /// ``WebSocketCloseCode/messageTooBig``. Default 16 MiB.
    public var messageLimit = 16 << 20
    /// The limit for received and unread messages, in bytes; each message counts 64 extra. At the limit the socket
    /// stops reading, so the server must wait. One message may exceed the limit. Default 1 MiB. While a ping waits for
    /// its pong, the limit is 16 times as high, and at least 1 MiB, because the pong follows the messages. The socket
    /// sees a Close frame behind unread messages when they are read, or when the server closes the connection. With
    /// ``compression``, at most 16 times the limit or 1 MiB is read ahead then: the reader sees the end after more
    /// messages, and senders get `NetworkError.Code.connectionLost`.
    public var receiveBufferLimit = 1 << 20
    /// The time between pings. If nothing arrives within this time after a ping, the connection ends with
    /// `NetworkError.Code.timedOut`, unless unread messages stop the reading. A part of a message counts, because the
    /// pong follows the message. URLSession reports only whole messages. Default nil: no pings. Zero or a negative
    /// interval sends none.
    public var pingInterval: Duration?
    /// Whether the socket reconnects when its connection is lost, or when the server closes it temporarily: with 1001,
    /// 1011, 1012, 1013 or 1014, which counts as `NetworkError.Code.connectionLost`. Default false.
    ///
    /// `RequestOptions.retry` sets the waits, with jitter, and limits the consecutive attempts that fail or deliver no
    /// message, ping or pong. The default is 10 attempts, with waits that double from 1 second up to 5 minutes. The socket
    /// reconnects after the failures in its `errorCodes` and `statusCodes`. A `RetryPolicy` of the chain shares the
    /// count. A ``pingInterval`` detects a dead connection that reports no error.
    public var reconnects = false
    /// The timeout of the closing handshake. Default 10 s.
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

/// The compression of messages by `permessage-deflate` ([RFC 7692](https://www.rfc-editor.org/rfc/rfc7692)).
public struct WebSocketCompression: Sendable, Hashable {
    /// Whether sent messages may refer to earlier ones, which compresses better and costs 300 KB. Default true.
    public var allowsClientContextTakeover = true
    /// Whether received messages may refer to earlier ones. Default true.
    public var allowsServerContextTakeover = true
    /// The smallest message that is compressed, in bytes. Default 256.
    public var threshold = 256

    /// Creates a compression with defaults.
    public init() {}

    /// The value of `Sec-WebSocket-Extensions` in the handshake.
    var offer: String {
        "permessage-deflate; client_max_window_bits"
            + (allowsClientContextTakeover ? "" : "; client_no_context_takeover")
            + (allowsServerContextTakeover ? "" : "; server_no_context_takeover")
    }
}
