import Foundation
import Switchboard
import SwitchboardWebSocket

/// The library's WebSocket over a `CurlSession`.
struct RouterSocketPeer: SocketPeer {
    let url: URL
    private let router = Router<URLEndPoint>(session: CurlSession())

    init(url: URL) { self.url = url }

    func echo(_ schedule: EchoSchedule) async throws -> Int {
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
