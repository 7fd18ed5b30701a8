#if !os(Linux)
extension DefaultSession {
    static var systemShared: any NetworkSession { FoundationSession.shared }

    static func makeSystem(_ configuration: SessionConfiguration) -> any NetworkSession {
        FoundationSession(configuration: configuration)
    }
}
#endif
