import Foundation
import Switchboard
import SwitchboardWebSocket

/// A `FoundationSession` whose WebSockets are tasks of a test.
struct TaskSession: NetworkSession {
    let makeTask: @Sendable (URLRequest) -> any SocketTask
    private let session = FoundationSession()

    init(_ makeTask: @escaping @Sendable (URLRequest) -> any SocketTask) { self.makeTask = makeTask }

    func invalidate() { session.invalidate() }

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        var request = request
        request.options.upgrade?.openByURLSession = { upgrade, request, session in
            try await session.openWebSocket(upgrade, request) { _, urlRequest, _ in makeTask(urlRequest) }
        }
        return try await session.send(request)
    }
}
