/// How a session sends a request once more by itself, over a new connection and as an exchange of its own.
enum Repetition: String {
    /// The kept-alive connection was dead.
    case onNewConnection = "a kept-alive connection that the server had closed"
    /// The server refused the stream unread ([RFC 9113 §8.7](https://www.rfc-editor.org/rfc/rfc9113#section-8.7)).
    case afterRefusedStream = "a stream that the server refused unread"
    /// The answer had a `Content-Encoding` that libcurl does not know: it is to come as it is.
    case undecoded = "an answer in an unknown content encoding"
}
