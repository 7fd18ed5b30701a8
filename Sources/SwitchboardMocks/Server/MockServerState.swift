import Switchboard

/// The state of a ``MockServer``, guarded by one lock.
struct MockServerState: Sendable {
    var handler: MockServer.Handler?
    private(set) var requests: [RecordedRequest] = []
    private(set) var webSockets: [RecordedWebSocket] = []
    private var takenWebSockets = 0
    private(set) var accepted = 0
    private(set) var open: Set<Int> = []
    private(set) var endedByClient: Set<Int> = []
    private var queue = ResponseQueue()
    private var taken = 0
    private(set) var stoppedWith: MockServer.Unfinished?
    /// The answers in flight, by the numbers of their connections.
    private var answering: [Int: Interrupted] = [:]

    init(handler: MockServer.Handler?) {
        self.handler = handler
    }

    mutating func enqueue(_ more: [MockResponse]) {
        queue.append(more)
    }

    /// Records a request, and takes the response at the head of the queue for it.
    mutating func receive(_ request: RecordedRequest) -> MockResponse? {
        requests.append(request)
        return queue.next()
    }

    /// Takes the response at the head of the queue when it ends the connection at a stage that the request has reached.
    mutating func takeBreak(upTo stage: Int) -> MockResponse? {
        guard let head = queue.first?.requestBreak, head.stage <= stage else { return nil }
        return queue.next()
    }

    mutating func begin(_ request: RecordedRequest, _ response: MockResponse, on connection: Int) {
        answering[connection] = Interrupted(request: request.description, response: response.description)
    }

    mutating func end(on connection: Int) {
        answering[connection] = nil
    }

    /// The unfinished responses, answers and connections if the server stopped now.
    var unfinished: MockServer.Unfinished {
        MockServer.Unfinished(
            responses: queue.rest.map(\.description),
            answers: answering.sorted { $0.key < $1.key }.map { "\($0.value.request): \($0.value.response)" },
            openConnections: open.count)
    }

    /// Returns ``unfinished``, stored at the first call.
    mutating func unfinishedWhenStopped() -> MockServer.Unfinished {
        let unfinished = stoppedWith ?? unfinished
        stoppedWith = unfinished
        return unfinished
    }

    private struct Interrupted: Sendable {
        let request: String
        let response: String
    }

    mutating func takeRequest() -> RecordedRequest? {
        guard taken < requests.count else { return nil }
        defer { taken += 1 }
        return requests[taken]
    }

    mutating func webSocketEnded(_ webSocket: RecordedWebSocket) {
        webSockets.append(webSocket)
    }

    mutating func takeWebSocket() -> RecordedWebSocket? {
        guard takenWebSockets < webSockets.count else { return nil }
        defer { takenWebSockets += 1 }
        return webSockets[takenWebSockets]
    }

    mutating func connectionAccepted() -> Int {
        accepted += 1
        open.insert(accepted)
        return accepted
    }

    mutating func connectionEnded(_ number: Int, byClient: Bool) {
        open.remove(number)
        end(on: number)
        if byClient { endedByClient.insert(number) }
    }

    /// Returns whether the client closed that connection. Without a number, returns whether no connection is open and a
    /// client closed at least one.
    func isDisconnected(_ number: Int?) -> Bool {
        if let number { return endedByClient.contains(number) }
        return open.isEmpty && !endedByClient.isEmpty
    }

    var connectionsText: String {
        "\(accepted) accepted, \(open.count) open, \(endedByClient.count) ended by a client"
    }
}
