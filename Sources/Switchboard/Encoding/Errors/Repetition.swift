/// The reason for which a session resends a request itself, over a new connection and as a separate exchange.
enum Repetition: String {
    /// The kept-alive connection was dead.
    case onNewConnection = "a kept-alive connection that had ended"
    /// The HTTP/2 stream ended with its connection.
    case afterEndedStream = "an HTTP/2 stream that ended without an answer"
    /// The server has certainly not processed the request ([RFC 9113
    /// §8.7](https://www.rfc-editor.org/rfc/rfc9113#section-8.7)).
    case unprocessed = "a request that the server did not process"
    /// libcurl does not support the response's `Content-Encoding`, so the second exchange leaves the body encoded.
    case undecoded = "an answer in an unknown content encoding"
}
