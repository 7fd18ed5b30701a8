import Foundation

/// Where URLSession differs between Apple's systems and the open-source Foundation, as values that the session can
/// branch on.
package enum URLSessionQuirks {
    #if canImport(FoundationNetworking)
    /// A header set to one blank is removed from the request, defaults of libcurl included.
    package static let blankValueRemovesHeader = true
    /// A connection that died is retried without rewinding a `Data` body, so every body has to be a stream.
    package static let bodiesMustBeStreams = true
    /// The text of an error is libcurl's, and tells more causes apart than its code.
    package static let speaksLibcurl = true
    /// `http://[::1]/` is refused as a bad URL.
    package static let refusesIPv6Literals = true
    /// `.cancelAuthenticationChallenge` is the only answer to a challenge that ends: the 401 has been delivered by
    /// then.
    package static let challengesMustBeCancelled = true
    #else
    package static let blankValueRemovesHeader = false
    package static let bodiesMustBeStreams = false
    package static let speaksLibcurl = false
    package static let refusesIPv6Literals = false
    package static let challengesMustBeCancelled = false
    #endif

    /// Whether a challenge is about TLS, by its authentication method. Never on Linux, where libcurl settles TLS by
    /// itself.
    package static func isAboutTLS(_ authenticationMethod: String) -> Bool {
        #if canImport(FoundationNetworking)
        return false
        #else
        return authenticationMethod == NSURLAuthenticationMethodServerTrust
            || authenticationMethod == NSURLAuthenticationMethodClientCertificate
        #endif
    }

    /// The queue on which a session calls its delegate.
    package static func makeDelegateQueue() -> OperationQueue {
        #if canImport(FoundationNetworking)
        // Running each callback where it arises saves two hops per callback. The callbacks never block and never call a
        // task's methods, which this queue would not bear.
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
private final class InlineQueue: OperationQueue, @unchecked Sendable {  // has no state of its own
    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        block()
    }
}
#endif
