import Dispatch
import Foundation
import Switchboard

/// The threads of a ``MockServer``. They hold the core and never the server, so that a released server is deallocated
/// and stops.
final class MockServerCore: Sendable {
    let state: Watched<MockServerState>
    let stop: StopSignal
    let board = StubBoard()
    let configuration: MockServer.Configuration
    /// The TLS context, or nil for plain HTTP.
    let tls: ServerTLS?
    /// The group that every thread enters while it runs.
    private let threads = DispatchGroup()

    init(
        configuration: MockServer.Configuration, tls: ServerTLS?, handler: MockServer.Handler?
    ) throws(SystemCalls.Failure) {
        self.configuration = configuration
        self.tls = tls
        state = Watched(MockServerState(handler: handler))
        stop = try StopSignal()
    }

    // MARK: Threads

    func accept(on listener: Socket) {
        startThread { [self] in
            while listener.wait(for: .readable, stop: stop) == .ready {
                do throws(SystemCalls.Failure) {
                    if let socket = try listener.accept() { start(socket) }
                } catch {
                    // No descriptor is left: the connections in use must close first.
                    _ = listener.wait(for: .broken, stop: stop, until: .now + .milliseconds(10))
                }
            }
            listener.close()
        }
    }

    private func start(_ socket: Socket) {
        let number = state.withLock { $0.connectionAccepted() }
        let connection = MockConnection(number: number, socket: socket, core: self)
        startThread { connection.serve() }
    }

    private func startThread(_ body: @escaping @Sendable () -> Void) {
        threads.enter()
        let thread = Thread { [threads] in
            body()
            threads.leave()
        }
        thread.name = "MockServer"
        thread.start()
    }

    /// Wakes every thread and fails every wait, without waiting for the threads to end.
    func beginStopping() {
        state.close(NetworkError(.connectionLost, reason: "MockServer: stopped"))
        stop.fire()
    }

    /// Waits until the threads have ended. A handler that still runs delays it by two seconds at most.
    func finishStopping() {
        beginStopping()
        _ = threads.wait(timeout: .now() + .seconds(2))
        state.withLock { $0.handler = nil }
    }

    // MARK: Reports from connections

    /// Records the request and returns its answer: from the queue, else a stub, else the handler, else a 404.
    func response(to request: RecordedRequest) -> MockResponse {
        let (scripted, handler) = state.withLock { ($0.receive(request), $0.handler) }
        if let scripted { return scripted }
        do {
            if let response = try board.answer(to: request) { return response }
        } catch let error as NetworkError {
            return .failure(error)
        } catch {
            return .text("MockServer: the stub's closure threw \(error)\n", status: 500)
        }
        if let handler { return handler(request) }
        let refusal = board.noteUnmatched(request, request.description)
        guard !board.isEmpty else {
            return .text("MockServer: nothing was enqueued for \(request.method) \(request.target)\n", status: 404)
        }
        return .text("MockServer: \(refusal)\n", status: 404)
    }

    func connectionEnded(_ number: Int, byClient: Bool) {
        state.withLock { $0.connectionEnded(number, byClient: byClient) }
    }
}
