import Foundation
import Switchboard
import SwitchboardWebSocket

/// A `FoundationSession` whose WebSockets are tasks of a test.
struct TaskSession: NetworkSession {
    let makeTask: @Sendable (URLRequest) -> any SocketTask
    private let session = FoundationSession()

    init(_ makeTask: @escaping @Sendable (URLRequest) -> any SocketTask) { self.makeTask = makeTask }

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        var request = request
        if let upgrade = request.options.upgrade {
            let opening: ConnectionUpgrade.URLSessionOpening = { upgrade, request, session in
                try await session.openWebSocket(upgrade, request) { urlRequest, _ in makeTask(urlRequest) }
            }
            request.options.upgrade = ConnectionUpgrade(
                byURLSession: opening, headers: upgrade.headers, outgoing: upgrade.outgoing)
        }
        return try await session.send(request)
    }
}
