import Dispatch
import Foundation
import Switchboard
import SwitchboardPlatform

/// The threads of a ``MockServer``. They retain the core and never the server, so that a released server is deallocated
/// and stops.
final class MockServerCore: Sendable {
    /// The time for the end of an answer in flight, before it counts as unfinished. For tests.
    @TaskLocal static var answerLimit = Duration.seconds(2)

    let state: WaitableState<MockServerState>
    let stop: StopSignal
    let registry = StubRegistry()
    let contracts = MockContracts()
    let limits: RequestLimits
    /// The TLS context, or nil for plain HTTP.
    let tls: ServerTLS?
    private let threads = DispatchGroup()

    init(
        limits: RequestLimits, tls: ServerTLS?, handler: MockServer.Handler?
    ) throws(Socket.Failure) {
        self.limits = limits
        self.tls = tls
        state = WaitableState(MockServerState(handler: handler))
        stop = try StopSignal()
    }

    // MARK: Threads

    func accept(on listener: Socket) throws(Socket.Failure) {
        try threads.startThread("MockServer") { [self] in listener.acceptAll(stop: stop) { start($0) } }
    }

    private func start(_ socket: Socket) {
        let number = state.withLock { $0.connectionAccepted() }
        let connection = MockConnection(number: number, socket: socket, core: self)
        do throws(Socket.Failure) {
            try threads.startThread("MockServer") { connection.serve() }
        } catch {
            socket.close()
            state.withLock { $0.connectionEnded(number, byClient: false) }
        }
    }

    /// Stores the unfinished answers, wakes every thread and fails every wait, without waiting for the threads to end.
    func beginStopping() {
        state.withLock { $0.stoppedWith = $0.stoppedWith ?? $0.unfinished }
        state.close(NetworkError(.connectionLost, reason: "MockServer: stopped"))
        stop.fire()
    }

    /// Waits until the threads have ended. A handler that still runs delays it by two seconds at most.
    func finishStopping() {
        beginStopping()
        _ = threads.wait(timeout: .now() + .seconds(2))
        // Released outside of the lock, because it may release a user's objects.
        _ = state.withLock { state in
            defer { state.handler = nil }
            return state.handler
        }
    }

    // MARK: Answers

    /// Waits until no answer is in flight or the server is stopped, for ``answerLimit`` at most.
    func waitForAnswers() {
        let deadline = ContinuousClock.now + Self.answerLimit
        while state.withLock({ $0.stoppedWith == nil && !$0.answering.isEmpty }), ContinuousClock.now < deadline {
            Thread.sleep(forTimeInterval: 0.001)
        }
    }

    /// Records the request and returns its answer: from the queue, else a stub, else the handler, else a 404. A request
    /// that a stub refuses gets the 404.
    func response(to request: RecordedRequest, on connection: Int) -> MockResponse {
        let response = answer(to: request, on: connection)
        _ = contracts.breach(of: request, by: response)
        return response
    }

    private func answer(to request: RecordedRequest, on connection: Int) -> MockResponse {
        let isRefused = registry.refuses(request)
        let (scripted, handler) = state.withLock { state in
            (state.receive(request, on: connection, isRefused: isRefused), state.handler)
        }
        if let scripted { return scripted }
        do {
            if let response = try registry.answer(to: request) { return response }
        } catch let error as NetworkError {
            return .failure(error)
        } catch {
            return .text("MockServer: the stub's closure threw \(error)\n", statusCode: 500)
        }
        if let handler, !registry.refuses(request) { return handler(request) }
        let refusal = registry.recordUnmatched(request, request.description)
        guard !registry.isEmpty else {
            return .text("MockServer: nothing was enqueued for \(request.method) \(request.target)\n", statusCode: 404)
        }
        return .text("MockServer: \(refusal)\n", statusCode: 404)
    }
}

/// The state of a ``MockServer``, guarded by one lock.
struct MockServerState: Sendable {
    var handler: MockServer.Handler?
    var requests = Arrivals<RecordedRequest>()
    /// One message per request that breaks HTTP.
    private(set) var refusals: [String] = []
    var webSockets = Arrivals<RecordedWebSocket>()
    private(set) var accepted = 0
    private(set) var open: Set<Int> = []
    private(set) var endedByClient: Set<Int> = []
    var queue = ResponseQueue()
    var stoppedWith: MockServer.Unfinished?
    /// The answers in flight, by the numbers of their connections.
    var answering: [Int: String] = [:]

    init(handler: MockServer.Handler?) {
        self.handler = handler
    }

    /// Records a request, and takes the response at the head of the queue for it, which is then in flight.
    mutating func receive(_ request: RecordedRequest, on connection: Int, isRefused: Bool) -> MockResponse? {
        requests.append(request)
        guard !isRefused, let response = queue.next() else { return nil }
        answering[connection] = "\(request): \(response)"
        return response
    }

    /// Takes the response at the head of the queue when it ends the connection at a stage that the request has reached.
    /// The response is then in flight.
    mutating func takeBreak(upTo stage: Int, on connection: Int) -> MockResponse? {
        guard case .broken(_, let point)? = queue.first?.outcome, let last = point.requestStage, last <= stage,
            let response = queue.next()
        else { return nil }
        answering[connection] = "\(response)"
        return response
    }

    /// Records that a request breaks HTTP, unless it only exceeds a limit of the server.
    mutating func refuse(_ error: RequestError, on connection: Int) {
        answering[connection] = nil
        if error.status == 413 || error.status == 431 { return }
        refusals.append("a request on connection \(connection) was refused with \(error.status): \(error.reason)")
    }

    /// The unfinished responses, answers and connections if the server stopped now.
    var unfinished: MockServer.Unfinished {
        MockServer.Unfinished(
            responses: queue.rest.map(\.description),
            answers: answering.sorted { $0.key < $1.key }.map(\.value),
            openConnections: open.count)
    }

    mutating func connectionAccepted() -> Int {
        accepted += 1
        open.insert(accepted)
        return accepted
    }

    mutating func connectionEnded(_ number: Int, byClient: Bool) {
        open.remove(number)
        answering[number] = nil
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
            + refusals.map { "; \($0)" }.joined()
    }
}
