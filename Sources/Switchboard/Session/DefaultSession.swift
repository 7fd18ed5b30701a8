/// The default session: ``CurlSession`` on Linux, and ``FoundationSession`` on Apple platforms and where libcurl cannot
/// be loaded. The missing libcurl is reported once on standard error.
public enum DefaultSession {
    /// The session that routers and managers share by default.
    public static let shared: any NetworkSession = systemShared

    /// Creates a session of the default type with separate connections.
    public static func make(_ configuration: SessionConfiguration = SessionConfiguration()) -> any NetworkSession {
        makeSystem(configuration)
    }
}
