import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The differences between URLSession on Apple's systems and in the open-source Foundation, as values. Tests on one
/// system simulate the callbacks of the other.
package struct URLSessionQuirks: Sendable {
    /// Whether a header field whose value is one blank is removed from the request, including a default of libcurl.
    package let blankValueRemovesHeader: Bool
    /// Whether every body must be a stream, because a retry after a dead connection does not rewind a `Data` body.
    package let bodiesMustBeStreams: Bool
    /// Whether the text of an error is libcurl's, which distinguishes more causes than its code. Apple's texts are in
    /// the user's language.
    package let reportsLibcurlErrors: Bool
    /// Whether URLSession rejects `http://[::1]/` as a bad URL.
    package let refusesIPv6Literals: Bool
    /// Whether only `.cancelAuthenticationChallenge` ends a challenge. By then the delegate has received the 401.
    package let challengesMustBeCancelled: Bool
    /// Whether calling the completion handler of a redirect traps after the task was canceled. Otherwise the
    /// handler must be called for every redirect.
    package let lateRedirectCompletionTraps: Bool
    /// Whether URLSession splits a `multipart/x-mixed-replace` body: it reports a response for each part, and removes
    /// the boundaries.
    package let splitsReplacedParts: Bool
    /// Whether a truncated body is reported as a lost connection, with the same text.
    package let truncatedBodyIsLostConnection: Bool

    /// URLSession on Apple's systems.
    package static let apple = URLSessionQuirks(
        blankValueRemovesHeader: false, bodiesMustBeStreams: false, reportsLibcurlErrors: false,
        refusesIPv6Literals: false,
        challengesMustBeCancelled: false, lateRedirectCompletionTraps: false, splitsReplacedParts: true,
        truncatedBodyIsLostConnection: true)

    /// URLSession of the open-source Foundation, over libcurl.
    package static let openSource = URLSessionQuirks(
        blankValueRemovesHeader: true, bodiesMustBeStreams: true, reportsLibcurlErrors: true, refusesIPv6Literals: true,
        challengesMustBeCancelled: true, lateRedirectCompletionTraps: true, splitsReplacedParts: false,
        truncatedBodyIsLostConnection: false)

    #if canImport(FoundationNetworking)
    package static let current = openSource
    #else
    package static let current = apple
    #endif

    /// The timeout of each request and session, in seconds: a week. The sessions themselves enforce shorter timeouts,
    /// with fractions of a second. The week is finite, because infinity traps in the open-source Foundation.
    package static let timeout: TimeInterval = 86_400 * 7

    /// Returns whether the system answers a challenge: one about TLS, or the first of a proxy, whose password is in the
    /// system's settings. False on Linux, where libcurl handles both without challenges.
    package static func isAnsweredBySystem(_ challenge: URLAuthenticationChallenge) -> Bool {
        #if canImport(FoundationNetworking)
        return false
        #else
        let space = challenge.protectionSpace
        return space.authenticationMethod == NSURLAuthenticationMethodServerTrust
            || space.authenticationMethod == NSURLAuthenticationMethodClientCertificate
            || space.isProxy() && challenge.previousFailureCount == 0
        #endif
    }

    /// Creates the queue on which a session calls its delegate.
    package static func makeDelegateQueue() -> OperationQueue {
        #if canImport(FoundationNetworking)
        // Runs each callback on the thread that calls it, which saves two thread switches per callback. The callbacks only block
        // for a temporary file and in the app's `onBodySent`. They never call a task's methods, which this queue would not
        // allow.
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
