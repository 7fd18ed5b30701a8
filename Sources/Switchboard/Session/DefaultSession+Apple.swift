#if !os(Linux)
/// Sends requests over libcurl, on Linux only. On this system, use ``DefaultSession``.
@available(
    *, unavailable, message: "CurlSession exists on Linux only: use DefaultSession.shared or DefaultSession.make(_:)"
)
public enum CurlSession {}

extension DefaultSession {
    static var systemShared: any NetworkSession { FoundationSession.shared }

    static func makeSystem(_ configuration: SessionConfiguration) -> any NetworkSession {
        FoundationSession(configuration: configuration)
    }
}
#endif
