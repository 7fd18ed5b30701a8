import Foundation
import SwitchboardTesting
import Testing

import SwitchboardTestSupport
@testable import Switchboard

@Suite(.timeLimit(.minutes(10)))
struct RouterLifetimeTests {
    private final class Session: NetworkSession {
        func send(_ request: NetworkRequest) async throws -> NetworkResponse {
            var response = NetworkResponse(statusCode: 200, url: request.url)
            response.stream = ResponseBytes(Data("body".utf8))
            return response
        }
    }

    @Test("a streamed call releases its router and session, read or not", arguments: [true, false])
    func streamed(isRead: Bool) async throws {
        weak var session: Session?
        func call() async throws {
            let made = Session()
            session = made
            let router = Router<URLEndPoint>(session: made)
            let options = RequestOptions { $0.streamsResponse = true }
            let response = try await router.rawResponse(
                for: URLEndPoint(.get, URL(text: "https://api.example.com/")), options: options)
            if isRead { for try await _ in response.bytes {} }
        }
        try await call()
        #expect(session == nil)
    }

    @Test("a response releases the enclosing call when that call ends")
    func enclosingCall() async throws {
        final class Monitor: EventMonitor {
            func record(_ event: CallEvent) {}
        }
        weak var monitor: Monitor?
        let responses = Deliveries<NetworkResponse>()
        func call() async throws {
            let router = Router<URLEndPoint>(session: StubSession(.text("film")))
            let outer = Router<URLEndPoint>(
                session: AdHocSession { _ in
                    responses.add(try await router.response(for: URLEndPoint(.get, URL(text: "https://h/"))))
                    return NetworkResponse(statusCode: 200)
                })
            let made = Monitor()
            monitor = made
            let options = RequestOptions { $0.monitors = [made] }
            _ = try await outer.response(for: URLEndPoint(.get, URL(text: "https://h/"), options: options))
        }
        try await call()
        #expect(responses.all.first?.text == "film" && monitor == nil)
    }
}
