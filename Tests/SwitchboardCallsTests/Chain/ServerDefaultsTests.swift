import Foundation
import Switchboard
import SwitchboardCalls
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ServerEnvironmentTests {
    private func sent(_ request: NetworkRequest, _ environment: ServerDefaults) async throws -> NetworkRequest {
        let stub = StubSession { _ in .text("") }
        _ = try await SessionChain {
            environment
            stub
        }.send(request)
        return try #require(stub.requests.first)
    }

    @Test(
        "adds a missing host, and the prefix unless the path is absolute", .requirement("S2.15"),
        arguments: [
            ("/v1", "people", "https://api.example/v1/people"), ("/v1/", "people", "https://api.example/v1/people"),
            ("v1", "people/1", "https://api.example/v1/people/1"), ("/", "people", "https://api.example/people"),
            ("", "people", "https://api.example/people"), ("/v1", "/people", "https://api.example/people"),
            ("/v1", "/\u{301}x", "https://api.example/%CC%81x"),
            ("/\u{301}v1", "x", "https://api.example/%CC%81v1/x"), ("/v1", "", "https://api.example/v1"),
            ("/v1//", "a b?", "https://api.example/v1/a%20b%3F"),
        ])
    func joining(prefix: String, path: String, url: String) async throws {
        var request = NetworkRequest(.get, nil)
        request.path = path
        let environment = ServerDefaults(host: "api.example", pathPrefix: prefix)
        #expect(try await sent(request, environment).url?.absoluteString == url)
    }

    @Test("a path with a segment of escaped dots is refused", .requirement("S2.15"))
    func escapedDots() async throws {
        let stub = StubSession { _ in .text("") }
        let session = SessionChain {
            ServerDefaults(host: "api.example", pathPrefix: "/v1")
            stub
        }
        var request = NetworkRequest(.delete, nil)
        request.path = "people/\(segment: "..")"
        let dotted = request
        let error = await #expect(throws: NetworkError.self) { try await session.send(dotted) }
        #expect(error?.code == .invalidRequest && error?.reason?.contains("escaped dots") == true)
        #expect(stub.requests.isEmpty)
    }

    @Test("a request with a host keeps its scheme, host, port and path", .requirement("S2.15"))
    func ownHost() async throws {
        let environment = ServerDefaults(URL(text: "http://api.example:8080/v1"), query: ["lang": "en"])
        let request = NetworkRequest(.get, URL(text: "https://u@other.example:1/people?a=1"))
        let sent = try await sent(request, environment)
        #expect(sent.url?.absoluteString == "https://u@other.example:1/people?a=1&lang=en")
        var bare = NetworkRequest(.get, nil)
        bare.path = "people"
        #expect(
            try await self.sent(bare, environment).url?.absoluteString == "http://api.example:8080/v1/people?lang=en")
    }

    @Test("the query and the user of a base URL are sent")
    func baseURL() async throws {
        let url = URL(text: "https://ann:a%20b@api.example/v1?key=a%2Bb+c&on&lang=de")
        var request = NetworkRequest(.get, nil)
        request.path = "people"
        let sent = try await sent(request, ServerDefaults(url, query: ["page": 2]))
        #expect(sent.url?.absoluteString == "https://api.example/v1/people?key=a%2Bb%20c&on=&lang=de&page=2")
        // "ann:a b" in Base64.
        #expect(sent.headers["Authorization"] == "Basic YW5uOmEgYg==")
        let own = ServerDefaults(url, headers: ["Authorization": "Bearer t"])
        #expect(try await self.sent(request, own).headers.values(for: "Authorization") == ["Bearer t"])
        let bob = NetworkRequest(.get, URL(text: "https://bob:b@api.example/v1"))
        #expect(try await self.sent(bob, own).headers["Authorization"] == nil)
        // A response to TRACE would repeat it (RFC 9110 §9.3.8).
        let traced = try await self.sent(NetworkRequest(.trace, URL(text: "https://api.example/v1")), own)
        #expect(traced.headers["Authorization"] == nil)
    }

    @Test("merges fields and query, the request wins, secrets stay at its origin", .requirement("S2.15"))
    func merging() async throws {
        let environment = ServerDefaults(
            host: "api.example", headers: ["X-App": "7", "X-Own": "no", "Authorization": "Bearer t"],
            query: ["lang": "en", "page": 1, "api_key": "k"])
        var request = NetworkRequest(.get, nil, headers: ["x-own": "yes"])
        request.query = "page=2"
        let sent = try await sent(request, environment)
        #expect(sent.headers["X-App"] == "7")
        #expect(sent.headers.values(for: "X-Own") == ["yes"])
        #expect(sent.headers["Authorization"] == "Bearer t")
        #expect(sent.query == "page=2&lang=en&api_key=k")
        for host in ["https://evil.example/", "http://api.example/", "https://api.example:8443/"] {
            let other = try await self.sent(NetworkRequest(.get, URL(string: host)), environment)
            #expect(other.headers["X-App"] == "7")
            #expect(other.headers["Authorization"] == nil)
            #expect(other.query == "lang=en&page=1")
        }
        #expect(!"\(environment) \(String(reflecting: environment))".contains("Bearer t"))
    }

    @Test(
        "a request can replace or disable the defaults of a chain", .requirement("S2.15"),
        arguments: SessionKind.allCases)
    func overrides(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.stub(.any) { _ in .text("") }
            let here = ServerDefaults(server.url.appendingPathComponent("v1"), headers: ["X-Env": "chain"])
            let session = SessionChain {
                here
                kind.make()
            }
            var request = NetworkRequest(.get, nil)
            request.path = "a"
            _ = try await session.send(request)
            request.options.serverDefaults = ServerDefaults(
                host: "127.0.0.1", scheme: "http", port: server.port, pathPrefix: "v2", headers: ["X-Env": "request"])
            _ = try await session.send(request)
            #expect(server.requests.map(\.target) == ["/v1/a", "/v2/a"])
            #expect(server.requests.map { $0.headers["X-Env"] } == ["chain", "request"])
            request.options.serverDefaults = .unchanged
            let unchanged = request
            let error = await #expect(throws: NetworkError.self) { try await session.send(unchanged) }
            #expect(error?.code.isKind(of: .invalidRequest) == true)
            #expect(server.requests.count == 2)
        }
    }

    @Test("a redirect back from another origin gets none of the defaults")
    func redirectHome() async throws {
        let stub = StubSession(
            .redirect(to: "https://other.example/b"), .redirect(to: "https://api.example/c"), .text(""))
        let session = SessionChain {
            RedirectInterceptor()
            ServerDefaults(host: "api.example", headers: ["Authorization": "Bearer t"], query: ["api_key": "k"])
            stub
        }
        _ = try await session.send(NetworkRequest(.get, URL(text: "https://api.example/")))
        #expect(stub.requests.map { $0.headers["Authorization"] } == ["Bearer t", nil, nil])
        #expect(stub.requests.map(\.query) == ["api_key=k", nil, nil])
    }

    @Test("a redirect to another host gets none of the defaults", .requirement("S2.15"))
    func redirect() async throws {
        let stub = StubSession(.redirect(to: "https://other.example/b"), .text(""))
        let session = SessionChain {
            ServerDefaults(host: "api.example", headers: ["Authorization": "Bearer t"], query: ["lang": "en"])
            RedirectInterceptor()
            stub
        }
        _ = try await session.send(NetworkRequest(.get, nil))
        #expect(
            stub.requests.map { $0.url?.absoluteString } == ["https://api.example/?lang=en", "https://other.example/b"])
        #expect(stub.requests.map { $0.headers["Authorization"] } == ["Bearer t", nil])
    }

    @Test("a redirect is followed from the host that later defaults add", .requirement("S2.15"))
    func redirectWithoutHost() async throws {
        let relative = NetworkRequest(.get, URL(text: "people"), headers: ["Authorization": "Bearer t"])
        var parts = NetworkRequest(.get, nil, headers: ["Authorization": "Bearer t"])
        parts.path = "people"
        for request in [relative, parts] {
            let stub = StubSession(.redirect(to: "next"), .redirect(to: "https://other.example/"), .text("ok"))
            _ = try await SessionChain {
                RedirectInterceptor()
                ServerDefaults(host: "api.example", pathPrefix: "/v1")
                stub
            }.send(request)
            #expect(
                stub.requests.map(\.url?.absoluteString) == [
                    "https://api.example/v1/people", "https://api.example/v1/next", "https://other.example/",
                ])
            #expect(stub.requests.map { $0.headers.contains("Authorization") } == [true, true, false])
        }
    }

    @Test("a request without a host gets the credentials and fields of the chain", .requirement("S2.15"))
    func credentials() async throws {
        let stub = StubSession { _ in .text("ok") }
        var request = NetworkRequest(.get, nil)
        request.path = "people"
        _ = try await SessionChain {
            BearerAuth("t")
            CommonHeaders(["X-App": "7"])
            CommonParameters(["a": 1])
            APIKeyAuth("k", in: .header("X-Key"), origins: ["api.example"])
            ServerDefaults(host: "api.example")
            stub
        }.send(request)
        let sent = try #require(stub.requests.first)
        #expect(sent.headers["Authorization"] == "Bearer t" && sent.headers["X-App"] == "7")
        #expect(!sent.headers.contains("X-Key"))
        #expect(sent.url?.absoluteString == "https://api.example/people?a=1")
    }
}
