import Foundation
import SwitchboardStreams
import SwitchboardTesting
import Testing

@testable import Switchboard
import SwitchboardTestSupport
@testable import SwitchboardAuth

/// The origins that receive credentials.
@Suite(.timeLimit(.minutes(10)))
struct CredentialOriginTests {
    private let home = URL(text: "https://api.example.com/a")

    private func schemes(_ origins: CredentialOrigins = .endPoints) -> [any Interceptor] {
        [
            BasicAuth(user: "u", password: "p", origins: origins), BearerAuth("t", origins: origins),
            APIKeyAuth("k", in: .header("X-Custom"), origins: origins),
            RequestSigner(origins: origins) { $0.headers["X-Custom"] = "signed" },
            AuthenticationInterceptor(KeyAuthenticator(), origins: origins),
        ]
    }

    private func hasCredentials(_ request: NetworkRequest) -> Bool {
        request.headers.contains("Authorization") || request.headers.contains("X-Custom")
    }

    @Test("redirects keep credentials within the origin and drop them beyond")
    func redirect() async throws {
        for scheme in schemes() {
            let session = StubSession(
                .redirect(to: "/b", statusCode: 307), .redirect(to: "https://evil.example/c", statusCode: 307),
                .redirect(to: "https://api.example.com/d", statusCode: 307), .text("ok"))
            let router = Router<URLEndPoint>(session: session, interceptors: [scheme])
            _ = try await router.response(for: URLEndPoint(.get, home))
            #expect(session.requests.map(hasCredentials) == [true, true, false, false], "\(scheme)")
        }
    }

    @Test("a redirect interceptor before the scheme drops credentials beyond it")
    func redirectInFront() async throws {
        for scheme in schemes() {
            let session = StubSession(
                .redirect(to: "/b", statusCode: 307), .redirect(to: "https://evil.example/c", statusCode: 307),
                .redirect(to: "https://api.example.com/d", statusCode: 307), .text("ok"))
            let router = Router<URLEndPoint>(session: session, interceptors: [RedirectInterceptor(), scheme])
            _ = try await router.response(for: URLEndPoint(.get, home))
            #expect(session.requests.map(hasCredentials) == [true, true, false, false], "\(scheme)")
        }
    }

    @Test("a next page at another origin gets credentials only when listed")
    func pages() async throws {
        func pages(_ scheme: any Interceptor) async throws -> [Bool] {
            let session = StubSession(
                .json("[1]", headers: ["Link": "<https://cdn.example.com/2>; rel=next"]), .json("[2]"))
            let router = Router<URLEndPoint>(session: session, interceptors: [scheme])
            for try await _ in router.pages(for: URLEndPoint(.get, home), as: [Int].self) {}
            return session.requests.map(hasCredentials)
        }
        for scheme in schemes() { #expect(try await pages(scheme) == [true, false], "\(scheme)") }
        for scheme in schemes(["https://api.example.com", "https://CDN.example.com:443/any"]) {
            #expect(try await pages(scheme) == [true, true], "\(scheme)")
        }
    }

    @Test(
        "credentials go only to listed origins: scheme, host and port match",
        arguments: [
            ("https://api.example.com/x", true), ("https://API.example.com:443/", true),
            ("http://api.example.com/", false),
            ("https://api.example.com:8443/", false), ("https://example.com/", false),
            ("https://api.example.com.evil.example/", false),
        ])
    func listed(url: String, isAllowed: Bool) async throws {
        for scheme in schemes(["https://api.example.com", "not a url", "ftp://example.com"]) {
            let session = StubSession { _ in .text("ok") }
            let router = Router<URLEndPoint>(session: session, interceptors: [scheme])
            _ = try await router.response(for: URLEndPoint(.get, try #require(URL(string: url))))
            #expect(session.requests.map(hasCredentials) == [isAllowed], "\(scheme)")
            guard let adapter = scheme as? any RequestAdapter else { continue }
            var request = NetworkRequest(.get, URL(string: url))
            try await adapter.adapt(&request)
            #expect(hasCredentials(request) == isAllowed || scheme is AuthenticationInterceptor<KeyAuthenticator>)
        }
    }
}
