import Foundation
import Switchboard
import SwitchboardWebSocket

/// The library's WebSocket over a `CurlSession`.
struct RouterSocketPeer: SocketPeer {
    let url: URL
    let runsOnSession: Bool
    private let session = CurlSession()

    init(url: URL, runsOnSession: Bool = false) { (self.url, self.runsOnSession) = (url, runsOnSession) }

    func echo(_ schedule: EchoSchedule) async throws -> Int {
        try await withTaskExecutorPreference(runsOnSession ? session.taskExecutor : nil) {
            try await echo(schedule, through: Router(session: session))
        }
    }

    private func echo(_ schedule: EchoSchedule, through router: Router<URLEndPoint>) async throws -> Int {
        let socket = try await router.webSocket(for: URLEndPoint(.get, url), sending: Data.self, receiving: Data.self)
        let count = try await schedule.run {
            try await socket.send(EchoSchedule.message)
            guard try await socket.receive() == EchoSchedule.message else {
                throw UnexpectedAnswer(description: "another message than was sent")
            }
        }
        await socket.close()
        return count
    }
}
