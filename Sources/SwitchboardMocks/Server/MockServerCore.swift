import Dispatch
import Foundation
import Switchboard

/// The threads of a ``MockServer``. They hold this and never the server, so that a server nobody holds goes, and stops.
final class MockServerCore: Sendable {
    let state: Watched<MockServerState>
    let stop: StopSignal
    let board = StubBoard()
    let configuration: MockServer.Configuration
    /// Nil for plain HTTP.
    let tls: ServerTLS?
    /// Entered by every thread while it runs.
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
                    // No descriptors left: those in use have to be closed first.
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

    /// Wakes every thread and refuses every wait; does not wait for them to end.
    func beginStopping() {
        state.close(NetworkError(.connectionLost, reason: "MockServer: stopped"))
        stop.fire()
    }

    /// Returns when the threads have ended. A handler that runs on holds it up for two seconds at most.
    func finishStopping() {
        beginStopping()
        _ = threads.wait(timeout: .now() + .seconds(2))
        state.withLock { $0.handler = nil }
    }

    // MARK: What connections report

    /// Records the request and decides what answers it: the queue, else a stub, else the handler, else a 404.
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
