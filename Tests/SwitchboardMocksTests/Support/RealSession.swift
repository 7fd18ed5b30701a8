import Switchboard

/// The sessions that use a real server. On Apple platforms both are the same.
enum RealSession: CaseIterable {
    case foundationSession, systemDefault

    /// Whether it is URLSession on Linux, which traps on some faults.
    var traps: Bool {
        #if os(Linux)
        self == .foundationSession
        #else
        false
        #endif
    }

    var session: any NetworkSession {
        switch self {
        case .foundationSession: FoundationSession()
        case .systemDefault: DefaultSession.make()
        }
    }
}
