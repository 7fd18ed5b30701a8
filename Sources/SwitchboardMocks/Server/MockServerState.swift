import Switchboard

/// What a ``MockServer`` knows, under its one lock.
struct MockServerState: Sendable {
    var handler: MockServer.Handler?
    private(set) var requests: [RecordedRequest] = []
    private(set) var accepted = 0
    private(set) var open: Set<Int> = []
    private(set) var endedByClient: Set<Int> = []
    private var responses: [MockResponse] = []
    private var taken = 0

    init(handler: MockServer.Handler?) {
        self.handler = handler
    }

    mutating func enqueue(_ more: [MockResponse]) {
        responses += more
    }

    /// Records a request, and takes the response at the head of the queue for it.
    mutating func receive(_ request: RecordedRequest) -> MockResponse? {
        requests.append(request)
        return responses.isEmpty ? nil : responses.removeFirst()
    }

    mutating func takeRequest() -> RecordedRequest? {
        guard taken < requests.count else { return nil }
        defer { taken += 1 }
        return requests[taken]
    }

    mutating func connectionAccepted() -> Int {
        accepted += 1
        open.insert(accepted)
        return accepted
    }

    mutating func connectionEnded(_ number: Int, byClient: Bool) {
        open.remove(number)
        if byClient { endedByClient.insert(number) }
    }

    /// Whether the client has ended that connection, or, without one, whether clients have ended all that the server
    /// has not.
    func isDisconnected(_ number: Int?) -> Bool {
        if let number { return endedByClient.contains(number) }
        return open.isEmpty && !endedByClient.isEmpty
    }

    var connectionsText: String {
        "\(accepted) accepted, \(open.count) open, \(endedByClient.count) ended by a client"
    }
}
