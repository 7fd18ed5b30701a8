import Foundation
import Switchboard
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct CommonHeadersTests {
    private let url = URL(text: "https://a.example/x")

    @Test(
        "common header fields reach the wire, and the request's fields win", .requirement("S1.5"),
        arguments: SessionKind.allCases)
    func wire(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.stub(.any) { _ in .text("") }
            let common = CommonHeaders(["X-User": "7", "X-Tag": "a", "X-tag": "b", "Accept": "never", "X-Own": "no"])
            let router = Router<URLEndPoint>(session: kind.make(), interceptors: [common])
            _ = try await router.response(for: URLEndPoint(.get, server.url, headers: ["x-own": "yes"]))
            let seen = try await server.takeRequest()
            #expect(seen.headers["X-User"] == "7")
            #expect(seen.headers.values(for: "X-Own") == ["yes"])
            #expect(seen.headers.values(for: "Accept") == ["application/json"])
            #expect(seen.headers["X-Tag"]?.contains("a") == true)
        }
    }

    @Test("a common Content-Type applies to bodies that have none", .requirement("S1.5"))
    func contentType() async throws {
        let session = StubSession { _ in .text("") }
        let common = CommonHeaders(["Content-Type": "text/plain"])
        let router = Router<URLEndPoint>(session: session, interceptors: [common])
        _ = try await router.response(for: URLEndPoint(.get, url))
        for body in [DataBody(Data("a".utf8)), DataBody(Data("{}".utf8), contentType: "application/json")] {
            _ = try await router.response(for: URLEndPoint(.post, url, task: .requestBody(body)))
        }
        #expect(session.requests.map { $0.headers["Content-Type"] } == [nil, "text/plain", "application/json"])
    }

    // RFC 9110 §9.3.8: "A client MUST NOT generate fields in a TRACE request containing sensitive data that might be
    // disclosed by the response."
    @Test("a TRACE request gets no common fields and parameters with a secret's name")
    func trace() async throws {
        let session = StubSession { _ in .text("") }
        let router = Router<URLEndPoint>(
            session: session,
            interceptors: [
                CommonHeaders(["X-Token": "t", "X-App-Version": "7"]),
                CommonParameters(["token": "t", "client": "app"]),
            ],
            headers: ["X-Api-Key": "k", "X-Device": "d"])
        _ = try await router.response(for: URLEndPoint(.trace, url))
        let sent = try #require(session.requests.first)
        #expect(!sent.headers.contains("X-Token") && !sent.headers.contains("X-Api-Key"))
        #expect(sent.headers["X-Device"] == "d")
        #expect(sent.headers["X-App-Version"] == "7")
        #expect(sent.query == "client=app")
    }

    @Test("an async provider serves only its hosts; invalid fields are refused", .requirement("S1.5"))
    func provider() async throws {
        let session = StubSession { _ in .text("") }
        let common = CommonHeaders(origins: ["a.example"]) {
            await Task.yield()
            return ["X-Token": "t"]
        }
        let router = Router<URLEndPoint>(session: session, interceptors: [common])
        for host in ["a.example", "b.example"] {
            _ = try await router.response(for: URLEndPoint(.get, #require(URL(string: "https://\(host)/"))))
        }
        #expect(session.requests.map { $0.headers["X-Token"] } == ["t", nil])
        let plan = await router.explain(URLEndPoint(.get, url))
        #expect(plan.request?.headers["X-Token"] == (url.host == "a.example" ? "t" : nil))
        let bad = Router<URLEndPoint>(session: session, interceptors: [CommonHeaders(["X-A": "1\r\nX-B: 2"])])
        let error = await #expect(throws: NetworkError.self) { try await bad.response(for: URLEndPoint(.get, url)) }
        #expect(error?.code == .invalidRequest)
    }
}
