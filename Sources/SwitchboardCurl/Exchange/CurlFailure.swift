#if os(Linux)

/// The reason why a response is missing or incomplete.
package enum CurlFailure: Error {
    /// The timeout that has passed.
    package enum Phase: Sendable { case attempt, connect, idle }

    /// A connection that ended before the response began.
    package enum Loss: Sendable {
        /// A reused connection ended, which the server may have closed before the request.
        case reused
        /// The HTTP/2 stream ended, alone or with its connection.
        case streamEnded
        /// The server did not process the request: its GOAWAY excludes the stream, or it refused the stream ([RFC 9113
        /// §8.7](https://www.rfc-editor.org/rfc/rfc9113#section-8.7)).
        case unprocessed
    }

    /// A result code of libcurl, with its message.
    case libcurl(code: Int32, message: String)
    /// libcurl was built without an option, which the text names.
    case refusedOption(String, code: Int32)
    /// libcurl refuses a URL with this number of bytes.
    case refusedURL(length: Int, code: Int32)
    /// The system is out of a resource.
    case system(String)
    /// The loop is closed for new exchanges.
    case closed
    case cancelled
    case timedOut(Phase)
    /// The connection ended before the response began.
    case connectionDied(Loss)
    /// libcurl dropped a response that the server sent before the server received the whole body.
    case responseLost
    case headTruncated, headTooLarge, headContainsNUL, headStartsFolded, badLengths
    /// The body does not have the content coding that the head states.
    case undecodable(String)
    /// The body is complete, but the coded data in it is not.
    case codingTruncated
    /// A 101 to a request without `Upgrade`, or of HTTP/1.0.
    case unrequestedUpgrade(isHTTP10: Bool)
    /// The announced length, or the number of bytes received when more arrived.
    case bodyAnnouncedTooLarge(Int64)
    case bodyTooLarge(Int)
    /// The decoded body is larger than its compressed size allows.
    case ratioTooLarge
    /// The error of the body's source.
    case body(any Error)
    /// The body's source produced another length than announced, which the text describes.
    case wrongBodyLength(String)
}
#endif
