/// The version of HTTP that a session uses.
public enum HTTPVersionPolicy: Sendable, Hashable {
    /// HTTP/2 if TLS negotiates it ([RFC 9113 §3.2](https://www.rfc-editor.org/rfc/rfc9113#section-3.2)), or else
    /// HTTP/1.1.
    case automatic
    /// Always HTTP/1.1.
    case http1
    /// HTTP/2 without negotiation, also on plain connections ([RFC 9113
    /// §3.3](https://www.rfc-editor.org/rfc/rfc9113#section-3.3)). For servers that are known to support it.
    case http2PriorKnowledge
}
