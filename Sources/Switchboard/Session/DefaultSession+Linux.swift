#if os(Linux)
import SwitchboardCurl
import SwitchboardPlatform

extension DefaultSession {
    static var systemShared: any NetworkSession {
        choose(CurlLibrary.failure, { CurlSession.shared }, or: { FoundationSession.shared })
    }

    static func makeSystem(_ configuration: SessionConfiguration) -> any NetworkSession {
        choose(
            CurlLibrary.failure, { CurlSession(configuration: configuration) },
            or: { FoundationSession(configuration: configuration) })
    }

    /// Returns the first session, or the second one if `failure` is not nil, and prints the reason once. A process
    /// without a free descriptor gets the first session, which loads libcurl for a later request.
    static func choose(
        _ failure: String?, _ first: () -> any NetworkSession, or second: () -> any NetworkSession
    ) -> any NetworkSession {
        guard failure != nil, !CurlLibrary.lacksDescriptors else { return first() }
        _ = reportFallback
        return second()
    }

    private static let reportFallback: Void = StandardError.write(
        "Switchboard: no CurlSession, requests go through URLSession (\(CurlLibrary.failure ?? ""))\n")
}
#endif
