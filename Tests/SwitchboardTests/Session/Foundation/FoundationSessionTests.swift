import Foundation
@testable import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// Behavior of FoundationSession only.
@Suite(.inTurn, .serialized, .timeLimit(.minutes(10)))
struct FoundationSessionTests {
    @Test("the cause of a failed connection is a URLError")
    func underlyingError() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:\(try MockServer().deadPort)/"))
        let error = await #expect(throws: NetworkError.self) {
            try await FoundationSession().send(NetworkRequest(.get, url))
        }
        #expect(error?.urlErrorCode == .cannotConnectToHost)
    }

    @Test(
        "a redirect without a Location is returned or is truncatedBody",
        arguments: [301, 306, 307, 308])
    func redirectWithoutLocation(status: Int) async throws {
        try await MockServer.run { server in
            let session = FoundationSession()
            server.enqueue(.status(status), .status(status, body: Data("body".utf8)))
            let response = try await session.send(NetworkRequest(.get, server.url))
            #expect(response.statusCode == status)
            let second = await Result { try await session.send(NetworkRequest(.get, server.url)) }
            switch second {
            case .success(let response): #expect(response.text == "body")
            case .failure(let error):
                #expect((error as? NetworkError)?.code == .truncatedBody)
                #expect((error as? NetworkError)?.statusCode == status)
            }
        }
    }

    @Test("a request that is canceled before its task exists is not sent", .requirement("S2.16"))
    func canceledBeforeTask() async throws {
        try await MockServer.run(handler: { _ in .text("ok") }) { server in
            let session = FoundationSession()
            let request = NetworkRequest(.get, server.url)
            // Over this connection, a task could send its request at once.
            _ = try await session.send(request)
            let urlRequest = try URLRequest(request, payload: nil)
            for _ in 1...20 {
                let exchange = FoundationExchange(request, payload: nil, session.deadlines)
                await #expect(throws: CancellationError.self) {
                    let _: NetworkResponse = try await withCheckedThrowingContinuation { continuation in
                        guard exchange.begin(continuation) else { return }
                        exchange.cancel()
                        session.start(exchange, urlRequest)
                    }
                }
            }
            _ = try await session.send(request)
            #expect(server.requests.count == 2)
        }
    }

    @Test("invalidating the shared session has no effect")
    func sharedSession() async throws {
        FoundationSession.shared.invalidate()
        try await MockServer.run { server in
            server.enqueue(.text("ok"))
            let response = try await FoundationSession.shared.send(NetworkRequest(.get, server.url))
            #expect(response.text == "ok")
        }
    }
}
