/// Which version of HTTP a session speaks.
public enum HTTPVersionPolicy: Sendable, Hashable {
    /// HTTP/2 where TLS negotiates it ([RFC 9113 §3.2](https://www.rfc-editor.org/rfc/rfc9113#section-3.2)), HTTP/1.1
    /// elsewhere.
    case automatic
    /// HTTP/1.1 always.
    case http1
    /// HTTP/2 without asking, on plain connections too ([RFC 9113
    /// §3.3](https://www.rfc-editor.org/rfc/rfc9113#section-3.3)): for servers known to speak it.
    case http2PriorKnowledge
}
