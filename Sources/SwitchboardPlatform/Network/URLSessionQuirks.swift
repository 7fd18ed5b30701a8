import Foundation

/// The differences of URLSession between Apple's systems and the open-source Foundation, as values that the session can
/// branch on.
package enum URLSessionQuirks {
    #if canImport(FoundationNetworking)
    /// Whether a header field whose value is one blank is removed from the request, including a default of libcurl.
    package static let blankValueRemovesHeader = true
    /// Whether every body must be a stream, because a retry after a dead connection does not rewind a `Data` body.
    package static let bodiesMustBeStreams = true
    /// Whether the text of an error is libcurl's, which distinguishes more causes than its code.
    package static let speaksLibcurl = true
    /// Whether URLSession rejects `http://[::1]/` as a bad URL.
    package static let refusesIPv6Literals = true
    /// Whether `.cancelAuthenticationChallenge` is the only answer that ends a challenge. The 401 has then been
    /// delivered already.
    package static let challengesMustBeCancelled = true
    #else
    package static let blankValueRemovesHeader = false
    package static let bodiesMustBeStreams = false
    package static let speaksLibcurl = false
    package static let refusesIPv6Literals = false
    package static let challengesMustBeCancelled = false
    #endif

    /// Returns whether a challenge is about TLS, by its authentication method. False on Linux, where libcurl handles
    /// TLS without challenges.
    package static func isAboutTLS(_ authenticationMethod: String) -> Bool {
        #if canImport(FoundationNetworking)
        return false
        #else
        return authenticationMethod == NSURLAuthenticationMethodServerTrust
            || authenticationMethod == NSURLAuthenticationMethodClientCertificate
        #endif
    }

    /// Creates the queue on which a session calls its delegate.
    package static func makeDelegateQueue() -> OperationQueue {
        #if canImport(FoundationNetworking)
        // Runs each callback on the thread that calls it, which saves two hops per callback. The callbacks never block
        // and never call a task's methods, which this queue would not allow.
        return InlineQueue()
        #else
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.name = "Switchboard.FoundationSession"
        return queue
        #endif
    }
}

#if canImport(FoundationNetworking)
private final class InlineQueue: OperationQueue, @unchecked Sendable {  // has no state
    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        block()
    }
}
#endif
