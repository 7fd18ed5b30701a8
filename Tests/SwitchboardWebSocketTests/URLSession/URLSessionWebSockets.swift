import Foundation
import Switchboard
import SwitchboardTestSupport
import SwitchboardWebSocket

extension SessionKind {
    /// Creates a session for WebSockets. Where URLSession opens none, ``FakeSocketTask`` replaces its tasks.
    func makeForWebSockets() async -> any NetworkSession {
        #if os(Linux)
        guard self == .foundation else { return make() }
        return await Self.urlSessionHasWebSockets ? make() : TaskSession { FakeSocketTask($0) }
        #else
        make()
        #endif
    }

    /// Whether URLSession opens WebSockets: on Apple's systems, and on Linux if Foundation was built with them.
    static var urlSessionHasWebSockets: Bool {
        get async { await probe.value }
    }

    private static let probe = Task {
        let (session, closed) = (FoundationSession(), URL(text: "http://127.0.0.1:9/"))
        do {
            _ = try await Router<URLEndPoint>(session: session).webSocket(for: URLEndPoint(.get, closed))
            return true
        } catch {
            return (error as? NetworkError)?.code != .unsupported
        }
    }
}

extension WebSocketClosure {
    /// The closure as one text, for comparisons.
    var text: String { "\(code.rawValue) \(reason)\(isFromServer ? " by the server" : "")" }
}

/// A `FoundationSession` whose WebSockets are tasks of a test.
struct TaskSession: NetworkSession {
    let makeTask: @Sendable (URLRequest) -> any SocketTask
    private let session = FoundationSession()

    init(_ makeTask: @escaping @Sendable (URLRequest) -> any SocketTask) { self.makeTask = makeTask }

    func invalidate() { session.invalidate() }

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        var request = request
        request.options.makeSocketTask = { _, urlRequest in makeTask(urlRequest) }
        return try await session.send(request)
    }
}
