extension MockServer {
    /// What a server had not done when it was stopped.
    public struct Unfinished: Sendable, Hashable, CustomStringConvertible {
        /// The responses left in the queue, as they describe themselves; those that repeat for ever do not count.
        public let responses: [String]
        /// The answers under way, each behind the request it is for. A stall that the client did not end is one.
        public let answers: [String]
        /// The connections that nobody had closed, idle ones too.
        public let openConnections: Int

        /// Whether the script was played to its end: nothing is left in the queue and no answer was cut short.
        public var isEmpty: Bool { responses.isEmpty && answers.isEmpty }

        /// The parts there are, a line each; empty when there are none.
        public var description: String {
            let left = responses.isEmpty ? [] : ["never requested: " + responses.joined(separator: "; ")]
            return (left + answers.map { "cut short: \($0)" }).joined(separator: "\n")
        }
    }
}
