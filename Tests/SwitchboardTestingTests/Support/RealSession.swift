import Switchboard

/// The sessions that ask a real server: on Apple platforms both are the same.
enum RealSession: CaseIterable {
    case foundationSession, systemDefault

    /// Whether it is URLSession as Linux has it, which some faults make trap.
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
