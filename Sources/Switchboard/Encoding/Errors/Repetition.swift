/// The reason for which a session resends a request itself, over a new connection and as a separate exchange.
enum Repetition: String {
    /// The kept-alive connection was dead.
    case onNewConnection = "a kept-alive connection that the server had closed"
    /// The server refused the stream before it read it ([RFC 9113
    /// §8.7](https://www.rfc-editor.org/rfc/rfc9113#section-8.7)).
    case afterRefusedStream = "a stream that the server refused unread"
    /// libcurl does not support the response's `Content-Encoding`, so the second exchange leaves the body encoded.
    case undecoded = "an answer in an unknown content encoding"
}
