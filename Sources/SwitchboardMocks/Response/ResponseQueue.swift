/// Responses in the order in which they answer, some of them more than once.
struct ResponseQueue: Sendable {
    private var responses: [MockResponse] = []

    var all: [MockResponse] { responses }

    mutating func append(_ more: [MockResponse]) {
        responses += more
    }

    var first: MockResponse? { responses.first }

    /// The responses with answers left, without those that repeat without limit.
    var rest: [MockResponse] { responses.filter { $0.repeats != nil } }

    /// Takes the response at the head, which stays in the queue while it repeats.
    mutating func next() -> MockResponse? {
        guard let first = responses.first else { return nil }
        switch first.repeats {
        case nil: break
        case let count? where count > 1: responses[0].repeats = count - 1
        default: responses.removeFirst()
        }
        return first
    }
}
