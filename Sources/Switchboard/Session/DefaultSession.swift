/// The session used where none is given: ``CurlSession`` on Linux, ``FoundationSession`` on Apple's systems and where
/// no libcurl can be loaded, which is said once on standard error.
public enum DefaultSession {
    /// The session that routers and managers share when they are given none.
    public static let shared: any NetworkSession = systemShared

    /// A session of the default kind with connections of its own.
    public static func make(_ configuration: SessionConfiguration = SessionConfiguration()) -> any NetworkSession {
        makeSystem(configuration)
    }
}
