import Foundation
import Switchboard

extension Cassette {
    /// What a cassette does with its file.
    public enum Mode: Sendable, Hashable {
        /// Plays what is recorded and never touches the network. A request without an entry is an error; each entry
        /// answers once; one that nobody asked for is a fault.
        case replay
        /// Plays what is recorded and records what is missing. Entries that nobody asked for are kept, and no fault.
        case recordMissing
        /// Records everything anew, over what was there. A run that records nothing leaves the file as it was.
        case rewrite
        /// As ``replay``, and requests have to come in the order in which they were recorded.
        case strict
        /// ``replay``, or what the environment variable `SWITCHBOARD_CASSETTES` says: `replay`, `record` for
        /// ``recordMissing``, `rewrite` or `strict`.
        case fromEnvironment

        /// The mode with ``fromEnvironment`` looked up.
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
