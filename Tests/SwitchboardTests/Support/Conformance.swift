import Foundation
import Testing

extension Trait where Self == ConditionTrait {
    /// For the suites that run over every session and open many connections: `scripts/conformance` runs them by
    /// themselves.
    static var isConformance: Self {
        .enabled(
            if: ProcessInfo.processInfo.environment["SWITCHBOARD_CONFORMANCE"] != nil, "run by scripts/conformance")
    }
}
