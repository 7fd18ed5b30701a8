#if os(Linux)

/// Why there is no response, or no more of it.
package enum CurlFailure: Error {
    /// What may take too long.
    package enum Phase: Sendable { case attempt, connect, idle }

    /// libcurl's result code and words.
    case libcurl(code: Int32, message: String)
    /// libcurl was built without an option, which is named in words.
    case refusedOption(String, code: Int32)
    /// The system is out of something.
    case system(String)
    /// The loop takes no exchanges any more.
    case closed
    case cancelled
    case timedOut(Phase)
    /// The connection ended before the response began: one kept alive, or one that refused the stream unread.
    case connectionDied(isKept: Bool)
    case headCutOff, headTooLarge, headHoldsNUL, conflictingLengths, unknownEncoding
    /// The length that was announced, or how much had come when more came.
    case bodyAnnouncedTooLarge(Int64)
    case bodyTooLarge(Int)
    /// The body unpacks to more than the limit allows.
    case ratioTooLarge
    /// What the body's source threw.
    case body(any Error)
    /// The body's source gave other than its length; in words.
    case wrongBodyLength(String)
}
#endif
