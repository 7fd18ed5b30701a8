import Foundation
import SwitchboardPlatform
import SwitchboardTesting
import Testing

@testable import Switchboard
@testable import SwitchboardAuth

@Suite(.timeLimit(.minutes(3)))
struct RequiredRefreshTests {
    @Test("a refresh is sent over a router that requires a sign-in everywhere")
    func sameRouter() async throws {
        let session = StubSession { request in
            if request.url?.path == "/refresh" { return .text("2") }
            return request.headers["Authorization"] == "Key 2" ? .text("ok") : .status(401)
        }
        let router = Protected<Router<URLEndPoint>?>(nil)
        let authenticator = KeyAuthenticator { _, _ in
            let response = try await router.value?.response(
                for: URLEndPoint(.get, URL(text: "http://127.0.0.1/refresh")))
            return Key(number: Int(response?.text ?? "") ?? 0)
        }
        let made = Router<URLEndPoint>(
            session: session, interceptors: [AuthenticationInterceptor(authenticator)],
            builder: RequestBuilder(options: RequestOptions { $0.authentication = .required }))
        router.withLock { $0 = made }
        defer { router.withLock { $0 = nil } }
        let text = try await made.response(for: URLEndPoint(.get, URL(text: "http://127.0.0.1/a"))).text
        #expect(text == "ok")
    }
}
