import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardTestSupport
import SwitchboardWebSocket

/// A task of URLSession whose callbacks a test calls.
final class ScriptedTask: SocketTask {
    typealias Receive = @Sendable (Result<WebSocketMessage, any Error>) -> Void
    typealias Completion = @Sendable ((any Error)?) -> Void

    struct State {
        var socket: FoundationSocket?
        var limit = 0
        var receives: [Receive] = []
        var receiveCount = 0
        var sends: [(message: WebSocketMessage, completion: Completion)] = []
        var pings: [Completion] = []
        var closes: [UInt16] = []
        var cancels = 0
        /// Whether messages are accepted at once.
        var acceptsMessages = true
    }

    let requests = Protected<[URLRequest]>([])
    let state = Protected(State())

    /// A session whose only task is this one.
    var session: TaskSession {
        TaskSession { request in
            self.requests.withLock { $0.append(request) }
            return self
        }
    }

    /// Waits for the socket that is started, and returns it.
    func socket() async throws -> FoundationSocket {
        guard await comesTrue({ state.value.socket != nil }), let socket = state.value.socket else {
            throw NetworkError(.unknown, reason: "no task was started")
        }
        return socket
    }

    /// Answers a receive. Waits for it.
    func deliver(_ result: Result<WebSocketMessage, any Error>) async {
        guard await comesTrue({ !state.value.receives.isEmpty }) else { return }
        state.withLock { $0.receives.isEmpty ? nil : $0.receives.removeFirst() }?(result)
    }

    func deliver(_ text: String) async { await deliver(.success(.text(text))) }

    func start(for socket: FoundationSocket, limit: Int) {
        state.withLock { ($0.socket, $0.limit) = (socket, limit) }
    }

    func send(_ message: WebSocketMessage, _ completion: @escaping Completion) {
        let isAccepted = state.withLock { state in
            state.sends.append((message, completion))
            return state.acceptsMessages
        }
        if isAccepted { completion(nil) }
    }

    func receive(_ completion: @escaping Receive) {
        state.withLock { state in
            state.receives.append(completion)
            state.receiveCount += 1
        }
    }

    func ping(_ completion: @escaping Completion) {
        state.withLock { $0.pings.append(completion) }
    }

    func close(_ code: UInt16, reason: Data) {
        state.withLock { $0.closes.append(code) }
    }

    func cancel() {
        state.withLock { $0.cancels += 1 }
    }
}
