import Foundation
import Switchboard
import SwitchboardAuth
import SwitchboardCookies
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct DigestCookieTests {
    @Test("an answer to a redirected challenge has the challenge's cookies")
    func redirected() async throws {
        let session = StubSession { request in
            if request.path == "/go" { return .status(302, headers: ["Location": "/landed", "Set-Cookie": "sid=1"]) }
            guard request.headers["Authorization"]?.contains("uri=\"/landed\"") == true else {
                return .status(
                    401,
                    headers: ["Set-Cookie": "sid=2", "WWW-Authenticate": #"Digest realm="r", nonce="n", qop="auth""#])
            }
            return .text(request.headers["Cookie"] ?? "none")
        }
        let router = Router<URLEndPoint>(
            session: session, interceptors: [DigestAuth(user: "anna", password: "geheim")],
            exchangeInterceptors: [CookieInterceptor()])
        let endPoint = URLEndPoint(.get, URL(text: "https://api.example.com/go"), headers: ["X-Own": "1"])
        #expect(try await router.request(endPoint, as: String.self) == "sid=2")
        #expect(session.requests.allSatisfy { $0.headers["X-Own"] == "1" })
    }
}
