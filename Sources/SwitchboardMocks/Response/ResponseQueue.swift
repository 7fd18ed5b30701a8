/// Responses in the order in which they answer, some of them more than once.
struct ResponseQueue: Sendable {
    private var responses: [MockResponse] = []

    var all: [MockResponse] { responses }

    mutating func append(_ more: [MockResponse]) {
        responses += more
    }

    var first: MockResponse? { responses.first }

    /// Those that were never asked for, or not as often as they can answer; those without limit left out.
    var rest: [MockResponse] { responses.filter { $0.repeats != nil } }

    /// Takes the response at the head, which stays there while it repeats.
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
