#if os(Linux)

/// The reason why a response is missing or incomplete.
package enum CurlFailure: Error {
    /// The timeout that has passed.
    package enum Phase: Sendable { case attempt, connect, idle }

    /// A result code of libcurl, with its message.
    case libcurl(code: Int32, message: String)
    /// libcurl was built without an option, which the text names.
    case refusedOption(String, code: Int32)
    /// The system is out of a resource.
    case system(String)
    /// The loop is closed for new exchanges.
    case closed
    case cancelled
    case timedOut(Phase)
    /// The connection ended before the response began. It was a kept-alive connection, or it refused the stream unread.
    case connectionDied(isKept: Bool)
    case headCutOff, headTooLarge, headHoldsNUL, headBeginsFolded, badLengths, unknownEncoding
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
    /// A 101 to a request that asked for no other protocol, or of HTTP/1.0.
    case unaskedUpgrade(isOld: Bool)
