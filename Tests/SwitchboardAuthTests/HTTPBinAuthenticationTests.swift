import SwitchboardAuth
import Foundation
import Switchboard
import SwitchboardTestSupport
import Testing

/// Authentication against an independent server.
@Suite(.needsHTTPBin, .inTurn, .serialized, .timeLimit(.minutes(10)))
struct HTTPBinAuthenticationTests {
    private struct Answer: Decodable {
        var authenticated: Bool
        var user: String?
        var token: String?
    }

    private func answer(_ kind: SessionKind, _ path: String, _ auth: any Interceptor) async throws -> Answer {
        let router = Router<URLEndPoint>(session: kind.make(), interceptors: [auth])
        return try await router.request(URLEndPoint(.get, HTTPBin.url(path)), as: Answer.self)
    }

    private func failure(_ kind: SessionKind, _ path: String, _ auth: any Interceptor) async throws -> NetworkError? {
        let router = Router<URLEndPoint>(session: kind.make(), interceptors: [auth])
        let url = try HTTPBin.url(path)
        return await #expect(throws: NetworkError.self) { try await router.response(for: URLEndPoint(.get, url)) }
    }

    @Test(
        "/basic-auth and /hidden-basic-auth take right, refuse wrong [httpbin]", .requirement("S2.20"),
        arguments: SessionKind.allCases)
    func basic(kind: SessionKind) async throws {
        for path in ["/basic-auth/anna/geheim", "/hidden-basic-auth/anna/geheim"] {
            let answer = try await answer(kind, path, BasicAuth(user: "anna", password: "geheim"))
            #expect(answer.authenticated && answer.user == "anna")
            let error = try await failure(kind, path, BasicAuth(user: "anna", password: "falsch"))
            #expect(error?.statusCode == (path.hasPrefix("/hidden") ? 404 : 401))
        }
    }

    @Test("/bearer accepts a token and refuses a request without one [httpbin]", arguments: SessionKind.allCases)
    func bearer(kind: SessionKind) async throws {
        let answer = try await answer(kind, "/bearer", BearerAuth("t0ken"))
        #expect(answer.authenticated && answer.token == "t0ken")
        #expect(try await failure(kind, "/bearer", BearerAuth { nil })?.code == .unauthorized)
    }

    @Test(
        "/digest-auth accepts the right password by MD5 and SHA-256 [httpbin]", arguments: SessionKind.allCases,
        ["MD5", "SHA-256"])
    func digest(kind: SessionKind, algorithm: String) async throws {
        for stale in ["never", "3"] {
            let path = "/digest-auth/auth/anna/geheim/\(algorithm)/\(stale)"
            let digest = DigestAuth(user: "anna", password: "geheim")
            // httpbin requires its cookies: it finds the nonce by them.
            let router = Router<URLEndPoint>(session: kind.make(), interceptors: [digest, CookieKeeper()])
            let answer = try await router.request(URLEndPoint(.get, HTTPBin.url(path)), as: Answer.self)
            #expect(answer.authenticated && answer.user == "anna")
        }
        let path = "/digest-auth/auth/anna/geheim/\(algorithm)"
        #expect(try await failure(kind, path, DigestAuth(user: "anna", password: "falsch"))?.code == .unauthorized)
    }

    @Test("/digest-auth with SHA-512 or auth-int is a typed error [httpbin]", arguments: SessionKind.allCases)
    func digestRefused(kind: SessionKind) async throws {
        let digest = DigestAuth(user: "anna", password: "geheim")
        #expect(try await failure(kind, "/digest-auth/auth/anna/geheim/SHA-512", digest)?.code == .unauthorized)
        #expect(try await failure(kind, "/digest-auth/auth-int/anna/geheim/MD5", digest)?.code == .cannotAuthenticate)
    }
}

/// Sends the cookies of the previous response.
private actor CookieKeeper: Interceptor {
    private var cookies: [String: String] = [:]

    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        var request = request
        if !cookies.isEmpty {
            request.headers["Cookie"] = cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
        }
        let response = try await next(request)
        for cookie in response.headers.values(for: "Set-Cookie") {
            let pair = cookie.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
            if pair.count == 2 { cookies[String(pair[0])] = String(pair[1]) }
        }
        return response
    }
}
