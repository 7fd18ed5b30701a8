#if os(Linux) && compiler(>=6.2)
import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// Servers in a process that can start no thread. Each test has a separate process, to which the limit applies.
@Suite(.timeLimit(.minutes(10))) struct MockServerThreadTests {
    @Test("a connection without a thread is closed, the next is served")
    func connection() async {
        await #expect(processExitsWith: .success) {
            try await MockServer.run(handler: { _ in .text("ok") }) { server in
                let request = "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
                try withoutThreads {
                    let refused = try RawClient(port: server.port).send(request).readAll()
                    #expect(refused.text.isEmpty && refused.end != .silent)
                }
                #expect(await comesTrue { server.openConnections == 0 })
                #expect(try RawClient(port: server.port).send(request).readAll().text.hasSuffix("ok"))
                #expect(server.connectionCount == 2 && server.requests.count == 1)
            }
        }
    }

    @Test("a server without a thread does not start")
    func server() async {
        await #expect(processExitsWith: .success) {
            let error = try withoutThreads { #expect(throws: NetworkError.self) { try MockServer() } }
            #expect(error?.code == .cannotConnect)
            #expect(error?.reason?.hasPrefix("MockServer: start a thread: ") == true)
        }
    }
}
#endif
