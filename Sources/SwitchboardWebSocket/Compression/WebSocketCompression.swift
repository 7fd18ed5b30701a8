/// The compression of messages by `permessage-deflate` ([RFC 7692](https://www.rfc-editor.org/rfc/rfc7692)).
public struct WebSocketCompression: Sendable, Hashable {
    /// Whether messages that are sent may refer to those before, which compresses better and costs 300 KB. Default
    /// true.
    public var keepsOwnContext = true
    /// Whether messages that are received may refer to those before. Default true.
    public var keepsServerContext = true
    /// The smallest message that is compressed, in bytes. Default 256.
    public var threshold = 256

    /// Creates a compression with defaults.
    public init() {}

    /// The offer of the handshake.
    var offer: String {
        "permessage-deflate; client_max_window_bits" + (keepsOwnContext ? "" : "; client_no_context_takeover")
            + (keepsServerContext ? "" : "; server_no_context_takeover")
    }
}
