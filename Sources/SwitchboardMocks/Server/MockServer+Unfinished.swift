extension MockServer {
    /// The responses, answers and connections that a server had left when it was stopped.
    public struct Unfinished: Sendable, Hashable, CustomStringConvertible {
        /// The descriptions of the responses left in the queue, without those that repeat without limit.
        public let responses: [String]
        /// The answers in flight, each as its request and its response. A stall that the client did not end is one.
        public let answers: [String]
        /// The number of connections that neither side had closed, idle ones included.
        public let openConnections: Int

        /// Whether the queue is empty and no answer was cut short.
        public var isEmpty: Bool { responses.isEmpty && answers.isEmpty }

        /// The unfinished responses and answers, one per line, or an empty text when both are complete.
        public var description: String {
            let left = responses.isEmpty ? [] : ["never requested: " + responses.joined(separator: "; ")]
            return (left + answers.map { "cut short: \($0)" }).joined(separator: "\n")
        }
    }
}
