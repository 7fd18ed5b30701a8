import Foundation
import SwitchboardTesting
import Testing

import SwitchboardTestSupport
@testable import Switchboard

/// The origins that `origins:` names.
@Suite(.timeLimit(.minutes(10)))
struct CommonOriginTests {
    private let home = URL(text: "https://app.example/a")

    /// Returns interceptors that add a secret for the same origins.
    private func adding(_ names: [String], _ origins: CredentialOrigins) -> [any Interceptor] {
        [
            CommonHeaders(["X-Token": "SECRET"], origins: .init(names)),
            CommonHeaders(origins: .init(names)) { ["X-Token": "SECRET"] },
            CommonParameters(["token": "SECRET"], origins: .init(names)), BearerAuth("SECRET", origins: origins),
        ]
    }

    private func hasSecret(_ request: NetworkRequest) -> Bool {
        request.headers.contains { $0.value.contains("SECRET") } || request.query?.contains("SECRET") == true
    }

    @Test(
        "after a redirect, a host name means https on the default port",
        arguments: [
            ("https://api.example.com/b", true), ("https://API.example.com:443/b", true),
            ("https://api.example.com:8080/b", false), ("https://api.example.com:80/b", false),
            ("https://evil.example/b", false),
        ])
    func redirected(target: String, isSent: Bool) async throws {
        for interceptor in adding(["api.example.com"], ["api.example.com"]) {
            let session = StubSession { $0.url?.path == "/a" ? .redirect(to: target, statusCode: 307) : .text("") }
            let router = Router<URLEndPoint>(session: session, interceptors: [RedirectInterceptor(), interceptor])
            _ = try await router.response(for: URLEndPoint(.get, home))
            #expect(session.requests.map(hasSecret) == [false, isSent], "\(interceptor)")
        }
    }

    @Test(
        "for a URL from data, a host name matches neither http nor other ports",
        arguments: ["http://api.example.com/b", "http://api.example.com:8080/b", "https://api.example.com:8080/b"])
    func foreign(target: String) async throws {
        for interceptor in adding(["api.example.com"], ["api.example.com"]) {
            let session = StubSession { _ in .text("") }
            let manager = NetworkManager(
                servers: [.production: "https://api.example.com"], session: session, interceptors: [interceptor])
            _ = try await manager.data(from: #require(URL(string: target)))
            #expect(session.requests.map(hasSecret) == [false], "\(interceptor)")
        }
    }

    @Test("a host name matches the scheme and port that the app requested")
    func asked() async throws {
        for interceptor in adding(["LOCALHOST"], ["LOCALHOST"]) + adding(["localhost:8080"], ["localhost:8080"]) {
            let session = StubSession { _ in .text("") }
            let router = Router<URLEndPoint>(session: session, interceptors: [interceptor])
            for url in ["http://localhost:8080/", "http://other.example:8080/"] {
                _ = try await router.response(for: URLEndPoint(.get, #require(URL(string: url))))
            }
            #expect(session.requests.map(hasSecret) == [true, false], "\(interceptor)")
        }
    }

    @Test("a host with the default port of http matches a URL without port")
    func defaultPort() async throws {
        for interceptor in adding(["localhost:80"], ["localhost:80"]) {
            let session = StubSession { _ in .text("") }
            let router = Router<URLEndPoint>(session: session, interceptors: [interceptor])
            for url in ["http://localhost/", "http://localhost:80/", "http://localhost:81/"] {
                _ = try await router.response(for: URLEndPoint(.get, #require(URL(string: url))))
            }
            #expect(session.requests.map(hasSecret) == [true, true, false], "\(interceptor)")
        }
    }

    @Test("an origin is scheme, host and port; an invalid URL names none")
    func origins() async throws {
        let names = ["http://api.example.com:8080/any", "ftp://api.example.com", "", "https://", "a b", ":8080", "//x"]
        let origins: CredentialOrigins = [
            "http://api.example.com:8080/any", "ftp://api.example.com", "", "https://", "a b", ":8080", "//x",
        ]
        for interceptor in adding(names, origins) {
            let session = StubSession { _ in .text("") }
            let router = Router<URLEndPoint>(session: session, interceptors: [interceptor])
            for url in ["http://api.example.com:8080/", "http://api.example.com/", "https://api.example.com/"] {
                _ = try await router.response(for: URLEndPoint(.get, #require(URL(string: url))))
            }
            #expect(session.requests.map(hasSecret) == [true, false, false], "\(interceptor)")
        }
    }

    @Test(
        "a body with common parameters is not redirected beyond their hosts",
        arguments: [
            (["https://a.example:8080/y"], ["a.example"], nil), (["https://b.example/y"], ["b.example"], nil),
            (["https://b.example/y"], ["b.example"], ["a.example"]),
        ] as [([String], [String], [String]?)])
    func body(targets: [String], hosts: [String], others: [String]?) async throws {
        let session = StubSession { $0.url?.path == "/a" ? .redirect(to: targets[0], statusCode: 307) : .text("") }
        var interceptors = [CommonParameters(["token": "SECRET"], origins: .init(hosts + ["app.example"]))]
        if let others {
            interceptors.append(CommonParameters(["key": "SECRET"], origins: .init(others + ["app.example"])))
        }
        let router = Router<URLEndPoint>(session: session, interceptors: interceptors)
        let call = URLEndPoint(.post, home, task: .requestParameters(["a": 1]))
        let isSent = targets[0].hasPrefix("https://b") && others == nil
        let error = await #expect(throws: NetworkError.self) {
            _ = try await router.response(for: call)
            if isSent { throw NetworkError(.cancelled) }
        }
        #expect(error?.code == (isSent ? .cancelled : .redirectRefused))
        #expect(session.requests.count == (isSent ? 2 : 1))
    }

    @Test("parameters of a dropped body do not refuse the next redirect")
    func droppedBody() async throws {
        let session = StubSession(
            .redirect(to: "/result", statusCode: 303), .redirect(to: "https://cdn.example/file"), .text("ok"))
        let router = Router<URLEndPoint>(session: session, interceptors: [CommonParameters(["token": "SECRET"])])
        _ = try await router.response(for: URLEndPoint(.post, home))
        #expect(
            session.requests.map { "\($0.method) \($0.host)" } == [
                "POST app.example", "GET app.example", "GET cdn.example",
            ])
        #expect(session.requests.allSatisfy { !hasSecret($0) } && session.requests.last?.body.isEmpty == true)
    }
}
