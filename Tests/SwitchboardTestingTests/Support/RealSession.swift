import Switchboard

/// The sessions that ask a real server: on Apple platforms both are the same.
enum RealSession: CaseIterable {
    case foundationSession, systemDefault

    var session: any NetworkSession {
        switch self {
        case .foundationSession: FoundationSession()
        case .systemDefault: DefaultSession.make()
        }
    }
}
