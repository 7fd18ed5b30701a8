import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// Header fields of redirects to another origin.
@Suite(.timeLimit(.minutes(10)))
struct RedirectHeaderTests {
    private let home = URL(text: "https://a.example.com/")
    private let away = "https://b.example.com/end"

    /// Returns the headers that reach the other origin, and the response, when the first request has these fields.
    private func moved(
        _ headers: HTTPHeaders, _ body: (any HTTPBody)? = nil,
        _ change: @escaping @Sendable (inout RequestOptions) -> Void = { _ in }
    ) async throws -> (headers: HTTPHeaders, response: NetworkResponse) {
        let session = StubSession(.redirect(to: away, statusCode: 307), .text("end"))
        let endPoint = URLEndPoint(
            body == nil ? .get : .post, home, task: body.map { .requestBody($0) } ?? .request, headers: headers,
            options: RequestOptions(change))
        let response = try await Router<URLEndPoint>(session: session).response(for: endPoint)
        return (try #require(session.recordedRequests.last).headers, response)
    }

    @Test(
        "a redirect to another origin drops unknown fields",
        arguments: [
            "X-Authorization", "X-Forwarded-Authorization", "X-Auth", "X-Session", "X-Session-Id", "Session",
            "X-GitHub-OTP", "DPoP", "X-Goog-IAP-JWT-Assertion", "X-Access-Code", "X-Pin", "X-Key", "X-Csrf",
            "X-Anything-Else", "Referer", "Origin", "Host", "Forwarded", "Accept-Charset", "Content-Location",
        ])
    func leavesOut(name: String) async throws {
        #expect(try await moved([name: "hush"]).headers[name] != "hush")
    }

    @Test("a request's options allow fields to another origin, but never Host", arguments: ["x-session", "User-Agent"])
    func options(name: String) async throws {
        let headers: HTTPHeaders = [name: "mine", "Host": "virtual.example.com", "X-Other": "1"]
        let moved = try await moved(headers) { $0.headersToOtherOrigins = ["X-SESSION", "user-agent", "Host"] }
        #expect(moved.headers[name] == "mine")
        #expect(moved.headers["Host"] == "b.example.com")
        #expect(moved.headers["X-Other"] == nil)
    }

    /// CORS-safelisted request header fields of the Fetch standard §2.2.2, fields that describe a body (RFC 9110 §8) or
    /// a client (§12.5.3, §10.1.5), preconditions (§13.1), and fields that make a retry safe.
    @Test(
        "a redirect to another origin keeps harmless fields",
        arguments: [
            ("Accept", "text/csv"), ("Accept-Language", "de"), ("Content-Language", "de"), ("Content-Type", "text/x"),
            ("Range", "bytes=5-"), ("If-Range", "\"v1\""), ("Content-Encoding", "br"), ("User-Agent", "films/1"),
            ("Accept-Encoding", "identity"), ("Cache-Control", "no-cache"), ("If-Match", "\"v1\""),
            ("If-None-Match", "*"), ("If-Modified-Since", "Sat, 29 Oct 1994 19:43:31 GMT"),
            ("If-Unmodified-Since", "Sat, 29 Oct 1994 19:43:31 GMT"), ("Last-Event-ID", "7"),
            ("Idempotency-Key", "\"k\""), ("accept-LANGUAGE", "fr"),
        ])
    func keeps(name: String, value: String) async throws {
        #expect(try await moved([name: value], DataBody(Data("abc".utf8))).headers[name] == value)
    }

    @Test("a body sent to another origin keeps only the fields that describe it", arguments: [false, true])
    func body(isStreamed: Bool) async throws {
        let headers = try await moved([:], OddBody(isStreamed: isStreamed)).headers
        #expect(headers["Content-Type"] == "text/x-odd")
        #expect(headers["Content-Encoding"] == "br")
        #expect(headers["X-Signature"] == nil)
    }

    @Test("a credential in a harmless field is not sent to another origin")
    func credentialInHarmlessField() async throws {
        let session = StubSession(.redirect(to: away, statusCode: 307), .text("end"))
        let router = Router<URLEndPoint>(
            session: session, interceptors: [APIKeyAuth("k", in: .header("User-Agent"))])
        _ = try await router.response(for: URLEndPoint(.get, home))
        #expect(session.requests.map { $0.headers["User-Agent"] } == ["k", nil])
    }

    @Test("the history names the fields that a redirect left out")
    func history() async throws {
        let response = try await moved(["X-Session": "hush", "DPoP": "hush", "Accept-Language": "de"]).response
        #expect(response.history.map(\.cause) == [nil, "redirect to another origin, without X-Session, DPoP"])
        #expect(!response.history.map(\.description).joined().contains("hush"))
    }

    @Test("the history names the left out fields once, not at each later redirect")
    func historyOfLaterRedirect() async throws {
        let session = StubSession(.redirect(to: away), .redirect(to: "/next"), .text("end"))
        let endPoint = URLEndPoint(.get, home, headers: ["X-Session": "hush"])
        let response = try await Router<URLEndPoint>(session: session).response(for: endPoint)
        let causes = [nil, "redirect to another origin, without X-Session", "redirect"]
        #expect(response.history.map(\.cause) == causes)
    }

    @Test("an event names the fields that a redirect left out")
    func events() async throws {
        let lines = Deliveries<String>()
        _ = try await moved(["X-Session": "hush"]) { $0.monitors.append(NetworkLogger { lines.add($0) }) }
        #expect(lines.all.contains { $0.hasSuffix("leaves out X-Session") })
    }

    @Test("explain names the fields that a redirect would leave out")
    func explain() async throws {
        let endPoint = URLEndPoint(.get, home, headers: ["X-Session": "hush", "Accept-Language": "de"])
        let router = Router<URLEndPoint>(session: StubSession(), interceptors: [BearerAuth("t")])
        let plan = await router.explain(endPoint)
        #expect(plan.description.contains("to another origin without X-Session, Authorization"))
    }
}

/// A body with a field that does not describe it.
private struct OddBody: HTTPBody {
    let isStreamed: Bool
    var additionalHeaders: HTTPHeaders {
        ["Content-Type": "text/x-odd", "Content-Encoding": "br", "X-Signature": "hush"]
    }
    func encode() throws -> Data { Data("abc".utf8) }
}
