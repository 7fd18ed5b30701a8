import Foundation
import SwitchboardCalls
import SwitchboardTesting
import Testing

@testable import Switchboard
import SwitchboardTestSupport
@testable import SwitchboardResilience

/// Interceptors that replace the request's options.
@Suite(.timeLimit(.minutes(10)))
struct AssignedOptionsTests {
    private let home = URL(text: "https://api.example.com/a")

    @Test("new options restore no credentials after a redirect to another origin", arguments: [true, false])
    func credentials(isMadeAnew: Bool) async throws {
        let session = StubSession(
            .redirect(to: "https://evil.example/b", statusCode: 307),
            .redirect(to: "https://api.example.com/close", statusCode: 307), .text("ok"))
        let eraser = AdHocInterceptor { request, next in
            var request = request
            request.options = RequestOptions()
            if isMadeAnew {
                let url = request.url
                request = NetworkRequest(request.method, url, options: request.options)
                request.options = RequestOptions { $0.timeouts.total = .seconds(9) }
            }
            return try await next(request)
        }
        let router = Router<URLEndPoint>(
            session: session, interceptors: [RedirectInterceptor(), eraser, BearerAuth("SECRET")])
        _ = try await router.response(for: URLEndPoint(.get, home))
        #expect(session.requests.map { $0.headers.contains("Authorization") } == [true, false, false])
    }

    @Test("new options do not send the manager's credentials to a foreign URL")
    func foreign() async throws {
        let session = StubSession { _ in .text("") }
        let eraser = RequestModifier { $0.options = RequestOptions() }
        let manager = NetworkManager(
            servers: [.production: "https://api.example.com"], session: session,
            interceptors: [eraser, BearerAuth("SECRET")])
        _ = try await manager.data(from: URL(text: "https://evil.example/a.png"))
        #expect(session.requests.map { $0.headers.contains("Authorization") } == [false])
    }

    @Test("new options do not send common parameters to another origin")
    func body() async throws {
        let session = StubSession(.redirect(to: "https://evil.example/b", statusCode: 307), .text("ok"))
        let eraser = RequestModifier { $0.options = RequestOptions() }
        let router = Router<URLEndPoint>(
            session: session, interceptors: [CommonParameters(["token": "SECRET"]), eraser, RedirectInterceptor()])
        let error = await #expect(throws: NetworkError.self) {
            try await router.response(for: URLEndPoint(.post, home, task: .requestParameters(["a": 1])))
        }
        #expect(error?.code == .redirectRefused)
        #expect(session.requests.count == 1)
    }

    @Test("a request that left its origin shares no deduplication key", arguments: [true, false])
    func shared(isNamed: Bool) throws {
        var request = NetworkRequest(.get, home)
        if isNamed { request.options.deduplication = .id("a") }
        var led = request
        led.leaveOrigin()
        var back = led
        back.options = request.options
        let keys = [request, led, back].map { DeduplicationKey($0, ignoring: []) }
        #expect(keys[0] != nil && keys[0] != keys[1])
        #expect(keys[1] == keys[2])
    }
}
