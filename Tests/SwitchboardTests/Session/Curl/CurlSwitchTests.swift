#if os(Linux)
import Foundation
import Switchboard
import SwitchboardTestSupport
import Testing

/// Answers that switch protocols although nobody asked.
@Suite(.timeLimit(.minutes(10))) struct CurlSwitchTests {
    @Test("a 101 that nobody requested is invalidResponse at once", arguments: [false, true])
    func unasked(isStreamed: Bool) async throws {
        try await RawServer.run { connection in
            _ = try connection.readHead()
            try connection.send(
                "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\nbytes")
            try connection.stall()
        } body: { server in
            var request = NetworkRequest(.get, server.url)
            request.timeouts = Timeouts(idle: nil)
            request.options.streamsResponse = isStreamed
            let asking = request
            let error = await #expect(throws: NetworkError.self) { try await CurlSession().send(asking) }
            #expect(error?.code == .invalidResponse, "\(String(describing: error))")
            #expect(error?.reason == "a 101 switches to a protocol that was not requested")
        }
    }
}
#endif
