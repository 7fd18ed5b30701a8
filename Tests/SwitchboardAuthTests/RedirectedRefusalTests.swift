@testable import SwitchboardAuth
import Foundation
import SwitchboardTesting
import Testing

import SwitchboardTestSupport
@testable import Switchboard

/// Responses of another origin after a redirect do not affect the first origin's credentials.
@Suite(.timeLimit(.minutes(10)))
struct RedirectedRefusalTests {
    private let home = URL(text: "https://api.example.com/a")

    private let ways = [["https://evil.example/"], ["https://evil.example/", "https://api.example.com/own"]]

    @Test("a redirected 401 of another origin starts no refresh")
    func refresh() async throws {
        for way in ways {
            let keys = KeyAuthenticator()
            let session = StubSession { _ in .status(401) }
            for target in way { session.enqueue(.redirect(to: target)) }
            let router = Router<URLEndPoint>(
                session: session, interceptors: [AuthenticationInterceptor(keys, clock: TestClock())])
            let response = try await router.rawResponse(for: URLEndPoint(.get, home))
            #expect(response.statusCode == 401)
            #expect(keys.refreshes.all.isEmpty)
            #expect(session.requests.count == way.count + 1)
            // A 401 of the first origin does.
            session.enqueue(.redirect(to: "/b"))
            _ = try await router.rawResponse(for: URLEndPoint(.get, home))
            #expect(keys.refreshes.all == [1])
        }
    }

    @Test("another origin's 401 to a one-shot body keeps the credential")
    func refusal() async throws {
        let keys = KeyAuthenticator()
        let session = StubSession(.redirect(to: "https://evil.example/", statusCode: 303), .status(401), .text("ok"))
        let router = Router<URLEndPoint>(
            session: session, interceptors: [AuthenticationInterceptor(keys, clock: TestClock())])
        let body = StreamBody(isReplayable: false) { HTTPBodyStream { nil } }
        _ = try await router.rawResponse(for: URLEndPoint(.post, home, task: .requestBody(body)))
        _ = try await router.rawResponse(for: URLEndPoint(.get, home))
        #expect(keys.refreshes.all.isEmpty)
    }

    @Test("another origin's 401 is ignored when the session follows redirects")
    func sessionThatFollows() async throws {
        let session = AdHocSession { _ in NetworkResponse(statusCode: 401, url: URL(text: "https://evil.example/")) }
        let keys = KeyAuthenticator()
        let router = Router<URLEndPoint>(
            session: session, interceptors: [AuthenticationInterceptor(keys, clock: TestClock())])
        _ = try await router.rawResponse(for: URLEndPoint(.get, home))
        #expect(keys.refreshes.all.isEmpty)
    }

    @Test("a listed origin's 401 refreshes; one behind its redirect does not")
    func listed() async throws {
        let origins: CredentialOrigins = ["https://api.example.com", "https://cdn.example.com"]
        for (way, count) in [
            (["https://cdn.example.com/"], 1), (["https://cdn.example.com/", "https://evil.example/"], 0),
        ] {
            let keys = KeyAuthenticator()
            let session = StubSession(.redirect(to: way[0]))
            for target in way.dropFirst() { session.enqueue(.redirect(to: target)) }
            session.enqueue(.status(401))
            session.enqueue(.text("ok"))
            let router = Router<URLEndPoint>(
                session: session,
                interceptors: [RedirectInterceptor(), AuthenticationInterceptor(keys, origins: origins)])
            _ = try await router.rawResponse(for: URLEndPoint(.get, home))
            #expect(keys.refreshes.all.count == count)
        }
    }

    @Test("a nonce from another origin behind a redirect is ignored")
    func digestNonce() async throws {
        let challenge = #"Digest realm="r", nonce="n1", qop="auth""#
        let session = StubSession(
            .status(401, headers: ["WWW-Authenticate": challenge]), .redirect(to: "https://evil.example/"),
            .text("ok").with("Authentication-Info", #"nextnonce="evil""#), .text("ok"))
        let router = Router<URLEndPoint>(session: session, interceptors: [DigestAuth(user: "u", password: "p")])
        for _ in 0..<2 { _ = try await router.rawResponse(for: URLEndPoint(.get, home)) }
        #expect(session.requests.last?.headers["Authorization"]?.contains(#"nonce="n1""#) == true)
    }

    @Test("a digest challenge after a detour over another origin gets no answer")
    func digestChallenge() async throws {
        let challenge = #"Digest realm="r", nonce="n1", qop="auth""#
        let session = StubSession { _ in .status(401, headers: ["WWW-Authenticate": challenge]) }
        for target in ways[1] { session.enqueue(.redirect(to: target)) }
        let router = Router<URLEndPoint>(session: session, interceptors: [DigestAuth(user: "u", password: "p")])
        _ = try await router.rawResponse(for: URLEndPoint(.get, home))
        #expect(session.requests.count == 3)
    }

    @Test("a 401 after a redirect from POST to GET sends only the GET again", arguments: [true, false])
    func methodChange(isReplayable: Bool) async throws {
        let keys = KeyAuthenticator()
        let session = StubSession(.redirect(to: "/orders/1", statusCode: 303), .status(401), .text("ok"))
        let router = Router<URLEndPoint>(
            session: session, interceptors: [AuthenticationInterceptor(keys, clock: TestClock())])
        let body = StreamBody(isReplayable: isReplayable) { HTTPBodyStream { nil } }
        _ = try await router.response(for: URLEndPoint(.post, home, task: .requestBody(body)))
        #expect(session.requests.map { "\($0.method) \($0.path)" } == ["POST /a", "GET /orders/1", "GET /orders/1"])
        #expect(session.authorizations == ["Key 1", "Key 1", "Key 2"])
    }

    @Test(
        "a 401 to a replaced method sends the original method again",
        arguments: [(HTTPMethod.patch, HTTPMethod.post), (.head, .get)])
    func methodOverride(method: HTTPMethod, sent: HTTPMethod) async throws {
        let session = KeyServer(2).session
        let override = AdHocInterceptor { request, next in
            var request = request
            request.headers["X-HTTP-Method-Override"] = request.method.rawValue
            request.method = sent
            return try await next(request)
        }
        let router = Router<URLEndPoint>(
            session: session,
            interceptors: [AuthenticationInterceptor(KeyAuthenticator(), clock: TestClock()), override])
        _ = try await router.response(for: URLEndPoint(method, home))
        #expect(session.requests.map { $0.headers["X-HTTP-Method-Override"] } == [method.rawValue, method.rawValue])
    }
}
