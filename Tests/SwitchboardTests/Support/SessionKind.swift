import Switchboard
import Testing

/// The sessions that this system has, for the tests that every session must pass.
enum SessionKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case foundation = "FoundationSession"
    case curl = "CurlSession"

    var testDescription: String { rawValue }

    func make(_ configuration: SessionConfiguration = SessionConfiguration()) -> any NetworkSession {
        #if os(Linux)
        if self == .curl { return CurlSession(configuration: configuration) }
        #endif
        return FoundationSession(configuration: configuration)
    }

    static var allCases: [SessionKind] {
        #if os(Linux)
        [.foundation, .curl]
        #else
        [.foundation]
        #endif
    }
}
