import Foundation
import Switchboard
import SwitchboardTesting

/// Runs a server that answers every request with its own bytes: head and body as they arrived.
func withEchoServer<Output>(_ body: (MockServer) async throws -> Output) async throws -> Output {
    try await MockServer.run(handler: { .data($0.head + $0.body) }, body: body)
}
