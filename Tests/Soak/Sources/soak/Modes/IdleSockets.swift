import Foundation
import Switchboard
import SwitchboardWebSocket

/// Open WebSockets that wait for messages for a minute. Then each echoes one message and closes.
struct IdleSockets {
    let count: Int
    let server: ServerProcess
    private static let seconds = 60

    func run() async throws -> Report {
        say("\(count) WebSockets, idle for \(Self.seconds) s")
        SocketServer.raiseDescriptorLimit()
        let router = Router<URLEndPoint>(session: CurlSession(configuration: .direct(connections: count)))
        let ledger = Ledger(count)
        let start = await Figures.settled()
        let endPoint = URLEndPoint(.get, server.socketURL.appendingPathComponent("echo"))
        let sockets = Locked<[WebSocket<WebSocketMessage, WebSocketMessage>]>([])
        await inParallel(16, 0..<count) { index in
            ledger.begin(index, "idle")
            do {
                let socket = try await router.webSocket(for: endPoint)
                sockets.withLock { $0.append(socket) }
            } catch {
                ledger.fault("socket \(index): \(error)")
            }
        }
        let all = sockets.withLock { $0 }
        let readers = all.enumerated().map { index, socket in
            Task {
                do {
                    let message = try await socket.receive()
                    if message != .text("\(index)") {
                        ledger.fault("socket \(index) received \(String(describing: message))")
                    }
                } catch {
                    ledger.fault("socket \(index): \(error)")
                }
                await socket.close()
                ledger.end(index, "closed")
            }
        }
        let warm = await Figures.settled()
        let time = clock()
        for second in stride(from: 10, through: Self.seconds, by: 10) {
            try await Task.sleep(for: .seconds(10))
            say("after \(second) s: \(Figures.now())")
        }
        let end = await Figures.settled(goal: warm)
        say(String(format: "idle CPU time: %.3f s", Double(clock() - time) / Double(CLOCKS_PER_SEC)))
        for (index, socket) in all.enumerated() { try await socket.send(.text("\(index)")) }
        for reader in readers { await reader.value }
        let over = await Figures.settled(goal: start)
        say("after the end: \(over)")
        var faults = ledger.faults
        // The loop keeps two descriptors to wait with, and the clocks two more.
        if over.descriptors > start.descriptors + 4 { faults.append("\(over.descriptors) descriptors stay open") }
        return Report(
            start: start, warm: warm, end: end, warmUp: "all open", outcome: ledger.outcome, faults: faults)
    }
}
