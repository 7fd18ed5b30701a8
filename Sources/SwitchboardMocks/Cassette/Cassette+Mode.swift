import Foundation
import Switchboard

extension Cassette {
    /// The use that a cassette makes of its file.
    public enum Mode: Sendable, Hashable {
        /// Plays recorded responses and never uses the network. A request without an entry is an error. Each entry
        /// answers once, and an unused entry is a fault.
        case replay
        /// Plays recorded responses and records missing ones. Unused entries stay in the file and are no fault.
        case recordMissing
        /// Records everything anew and replaces the old entries. A run that records nothing leaves the file unchanged.
        case rewrite
        /// Plays like ``replay``, and requires requests in the order of the recording.
        case strict
        /// ``replay``, or the mode in the environment variable `SWITCHBOARD_CASSETTES`: `replay`, `record` for
        /// ``recordMissing``, `rewrite` or `strict`.
        case fromEnvironment

        /// Returns the mode with ``fromEnvironment`` resolved.
        ///
        /// - Throws: `NetworkError.cassetteFault` when the variable has another value.
        package func resolved(
            in environment: [String: String] = ProcessInfo.processInfo.environment
        ) throws(NetworkError) -> Mode {
            guard self == .fromEnvironment else { return self }
            switch environment["SWITCHBOARD_CASSETTES"] {
            case nil, "", "replay": return .replay
            case "record": return .recordMissing
            case "rewrite": return .rewrite
            case "strict": return .strict
            case let value?:
                throw NetworkError(
                    .cassetteFault,
                    reason: "SWITCHBOARD_CASSETTES is \(value.quoted); it is replay, record, rewrite or strict")
            }
        }

        var records: Bool { self == .recordMissing || self == .rewrite }
    }
}
