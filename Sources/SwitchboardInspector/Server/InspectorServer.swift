import Dispatch
import Foundation
import Switchboard
import SwitchboardMocks
import SwitchboardPlatform

/// Serves the page on a port of 127.0.0.1, with one thread for each connection. Its threads retain it, and never the
/// inspector.
final class InspectorServer: Sendable {
    /// The longest times that a connection may take.
    struct Times: Sendable {
        /// The time for the request to arrive.
        var request = Duration.seconds(10)
        /// The time for the client to accept an answer or an event.
        var answer = Duration.seconds(30)
        /// The time between two lines of an event stream.
        var heartbeat = Duration.seconds(15)
        /// The time in which the changes of an event stream are collected.
        var pause = Duration.milliseconds(50)
    }

    /// The number of connections. A browser opens six, and more pages may be open.
    static let maximumConnections = 32

    private struct State {
        /// The connections that have not ended, by their numbers.
        var connections: [Int: Connection] = [:]
        var last = 0
        var isStopped = false
    }

    private struct Connection {
        let end: StopSignal
        /// Whether it has sent the key.
        var isTrusted = false
        var isEnding = false
    }

    let calls: CallStore
    /// The secret of the page's URL: 192 random bits.
    let key = Data.random(24).base64URLText
    /// The path of the page. A browser sends its cookie to each port of this device, but only below this path.
    let path = "/" + Data.random(24).base64URLText
    let port: Int
    let times: Times
    private let stopping: StopSignal
    private let state = Protected(State())
    private let threads = DispatchGroup()

    init(_ calls: CallStore, _ times: Times) throws(Socket.Failure) {
        self.calls = calls
        self.times = times
        stopping = try StopSignal()
        let listener: Socket
        (listener, port) = try Socket.listening()
        try threads.startThread("NetworkInspector") { [self] in listener.acceptAll(stop: stopping) { start($0) } }
    }

    var url: URL? { URL(string: "http://127.0.0.1:\(port)/?key=\(key)") }

    // MARK: Stopping

    /// Ends everything, without waiting for the threads.
    func beginStopping() {
        let ends = state.withLock { state in
            state.isStopped = true
            return state.connections.values.map(\.end)
        }
        stopping.fire()
        for end in ends { end.fire() }
        calls.removeAll(isStopping: true)
    }

    /// Ends everything, and waits for the threads. They take at most two seconds.
    func stop() {
        beginStopping()
        _ = threads.wait(timeout: .now() + .seconds(2))
    }

    var isStopped: Bool { state.withLock { $0.isStopped } }
    /// The number of connections that have not ended.
    var connectionCount: Int { state.withLock { $0.connections.count } }

    // MARK: Connections

    private func start(_ socket: Socket) {
        guard let end = try? StopSignal(), let number = add(end) else { return socket.close() }
        do throws(Socket.Failure) {
            try threads.startThread("NetworkInspector") { [self] in
                InspectorConnection(number: number, socket: socket, end: end, server: self).serve()
                state.withLock { $0.connections[number] = nil }
            }
        } catch {
            socket.close()
            state.withLock { $0.connections[number] = nil }
        }
    }

    /// Adds a connection and returns its number, or nil when there are too many. In place of the new one, the oldest
    /// connection without the key ends, so that a process without it cannot keep others out.
    private func add(_ end: StopSignal) -> Int? {
        let (number, oldest) = state.withLock { state -> (Int?, StopSignal?) in
            guard !state.isStopped, state.connections.count < 2 * Self.maximumConnections else { return (nil, nil) }
            var oldest: StopSignal?
            if state.connections.values.count(where: { !$0.isEnding }) >= Self.maximumConnections {
                let open = state.connections.filter { !$0.value.isTrusted && !$0.value.isEnding }
                guard let number = open.keys.min() else { return (nil, nil) }
                oldest = state.connections[number]?.end
                state.connections[number]?.isEnding = true
            }
            state.last += 1
            state.connections[state.last] = Connection(end: end)
            return (state.last, oldest)
        }
        oldest?.fire()
        return number
    }

    /// Records that a connection has sent the key.
    func trust(_ number: Int) {
        state.withLock { $0.connections[number]?.isTrusted = true }
    }
}
