import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardWebSocket
import Testing

/// Ends of a socket that meet another event.
@Suite("WebSocket races", .timeLimit(.minutes(3))) struct WebSocketRaceTests {
    @Test("closing while the next connection is installed throws no error")
    func closeAmidInstallation() async throws {
        for round in 0..<300 {
            let session = StubSession(.webSocket(.drop), .webSocket(.stall))
            let (isOpening, mayOpen) = (Gate(), Gate())
            let options = RequestOptions { $0.webSocket.reconnects = true }
            let socket = try await Router<URLEndPoint>(session: session).webSocket(
                for: URLEndPoint(.get, URL(text: "https://example.com/"), options: options),
                clock: TestClock(skips: true)
            ) { _, _ in
                guard session.requests.count > 1 else { return }
                isOpening.open()
                try await mayOpen.wait()
            }
            let reading = Task { try await socket.receive() }
            try await isOpening.wait()
            async let closing: Void = socket.close()
            for _ in 0..<round % 8 { await Task.yield() }
            mayOpen.open()
            await closing
            let message = try await reading.value
            #expect(message == nil)
            #expect(socket.closure?.isByServer == false)
        }
    }
}
