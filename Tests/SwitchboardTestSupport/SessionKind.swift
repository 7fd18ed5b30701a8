import Switchboard
import Testing

/// The sessions that this system has, for the tests that every session must pass.
package enum SessionKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case foundation = "FoundationSession"
    case curl = "CurlSession"

    package var testDescription: String { rawValue }

    package func make(_ configuration: SessionConfiguration = SessionConfiguration()) -> any NetworkSession {
        #if os(Linux)
        if self == .curl { return CurlSession(configuration: configuration) }
        #endif
        return FoundationSession(configuration: configuration)
    }

    package static var allCases: [SessionKind] {
        #if os(Linux)
        [.foundation, .curl]
        #else
        [.foundation]
        #endif
    }

    /// Whether a request that has ended has also freed its connection. URLSession on Linux may end it before.
    package var freesConnectionAtEnd: Bool { self == .curl }

    /// The sessions with features that URLSession lacks everywhere or on Linux. Empty on Apple's systems.
    package static let curlAlone = allCases.filter { $0 == .curl }
}
