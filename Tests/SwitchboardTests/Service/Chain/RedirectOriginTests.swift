import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct RedirectOriginTests {
    private let secrets: HTTPHeaders = [
        "Authorization": "Bearer t", "Cookie": "id=1", "Proxy-Authorization": "Basic cDpw", "X-Mine": "1",
    ]

    @Test(
        "credentials are dropped when scheme, host or port change",
        arguments: [
            ("http://a.example.com/", "https://a.example.com/"), ("https://a.example.com/", "https://b.example.com/"),
            ("https://a.example.com/", "https://example.com/"),
            ("https://a.example.com/", "https://a.example.com:8443/"),
            ("http://a.example.com:443/", "https://a.example.com/"), ("https://a.example.com/", "//b.example.com/x"),
            ("http://a.example.com:8080/", "http://a.example.com/"),
            ("https://a.example.com/", "https://a.example.com.evil.test/"),
            ("https://a.example.com/", "https://a.example.com@evil.test/"),
        ])
    func dropped(from: String, to: String) async throws {
        let last = try await lastHeaders(from, [to])
        #expect(last == ["Accept": "application/json"])
    }

    @Test(
        "credentials stay within an origin, however host and port are written",
        arguments: [
            ("https://a.example.com/", "/b"), ("https://a.example.com/", "https://a.example.com/b"),
            ("https://a.example.com/", "https://A.EXAMPLE.com/b"),
            ("https://a.example.com/", "https://a.example.com:443/b"),
            ("http://a.example.com:80/", "http://a.example.com/b"),
            ("https://a.example.com/", "HTTPS://a.example.com/b"),
            ("https://a.example.com:8443/", "https://a.example.com:8443/b"), ("https://a.example.com/", "?page=2"),
        ])
    func kept(from: String, to: String) async throws {
        let last = try await lastHeaders(from, [to])
        #expect(last["Authorization"] == "Bearer t")
        #expect(last["Cookie"] == "id=1")
        #expect(last["Proxy-Authorization"] == "Basic cDpw")
    }

    @Test("dropped credentials do not return with the first origin")
    func noReturn() async throws {
        let last = try await lastHeaders(
            "https://a.example.com/", ["https://b.example.com/", "https://a.example.com/b"])
        #expect(last == ["Accept": "application/json"])
    }

    @Test("the user of a URL stays within its origin, and does not return to it")
    func user() async throws {
        let session = StubSession(
            .redirect(to: "https://a.example.com/y?b"), .redirect(to: "https://b.example.com/"),
            .redirect(to: "https://a.example.com/z"), .text("end"))
        let url = URL(text: "https://anna:p%40w@a.example.com/x")
        _ = try await Router<URLEndPoint>(session: session).response(for: URLEndPoint(.get, url))
        #expect(
            session.requests.map(\.url?.absoluteString) == [
                "https://anna:p%40w@a.example.com/x", "https://anna:p%40w@a.example.com/y?b", "https://b.example.com/",
                "https://a.example.com/z",
            ])
    }

    @Test("over the wire, another port gets no credentials and a new Host")
    func ports() async throws {
        try await MockServer.run { first in
            try await MockServer.run { other in
                first.enqueue(
                    .status(307, headers: ["Location": "/again"]),
                    .status(307, headers: ["Location": other.url.appendingPathComponent("end").absoluteString]))
                other.enqueue(.text("end"))
                let router = Router<URLEndPoint>(session: DefaultSession.make())
                let headers = secrets.merging(["Host": "virtual.example.com"])
                let task = HTTPTask.requestBody(DataBody(Data("bytes".utf8)))
                let response = try await router.response(
                    for: URLEndPoint(.post, first.url, task: task, headers: headers))
                #expect(response.text == "end")
                for seen in first.requests {
                    #expect(seen.headers["Authorization"] == "Bearer t")
                    #expect(seen.headers["Cookie"] == "id=1")
                    #expect(seen.headers["Host"] == "virtual.example.com")
                }
                let last = try await other.takeRequest()
                #expect(first.requests.count == 2)
                #expect(last.headers["Authorization"] == nil)
                #expect(last.headers["Cookie"] == nil)
                #expect(last.headers["Proxy-Authorization"] == nil)
                #expect(last.headers["Host"] == "127.0.0.1:\(other.port)")
                #expect(last.headers["X-Mine"] == nil)
                #expect(last.text == "bytes")
            }
        }
    }

    @Test(
        "a redirect from https to another scheme is refused with its 3xx",
        arguments: [
            "http://a.example.com/", "http://b.example.com/", "HTTP://a.example.com/", "ftp://a.example.com/f",
            "file:///etc/passwd",
            "data:text/plain,hello", "javascript:alert(1)", "mailto:a@example.com", "about:blank", "http:///nohost",
            "https://",
        ])
    func refused(location: String) async throws {
        let session = StubSession(.text("moved", statusCode: 302, headers: ["Location": location]), .text("never"))
        let router = Router<URLEndPoint>(session: session)
        let error = await #expect(throws: NetworkError.self) {
            try await router.response(for: URLEndPoint(.get, URL(text: "https://a.example.com/")))
        }
        #expect(error?.code == .redirectRefused)
        #expect(error?.statusCode == 302)
        #expect(error?.headers?["Location"] == location)
        #expect(error?.body == Data("moved".utf8))
        #expect(session.requests.count == 1)
    }

    @Test("a redirect from http to https is followed")
    func upgrade() async throws {
        let session = StubSession(.status(301, headers: ["Location": "https://a.example.com/b"]), .text("secure"))
        let router = Router<URLEndPoint>(session: session)
        #expect(
            try await router.request(URLEndPoint(.get, URL(text: "http://a.example.com/")), as: String.self) == "secure"
        )
    }

    @Test("the error of a refused redirect hides secrets in its Location")
    func refusalText() async throws {
        let session = StubSession(.status(302, headers: ["Location": "http://u:hunter2@a.example.com/?token=hunter2"]))
        let router = Router<URLEndPoint>(session: session)
        let error = await #expect(throws: NetworkError.self) {
            try await router.response(for: URLEndPoint(.get, URL(text: "https://a.example.com/")))
        }
        #expect(error?.description.contains("hunter2") == false)
        #expect(error?.description.contains("http://") == true)
    }

    /// Sends a request with secrets, redirects it to each location in turn, and returns the last request's headers.
    private func lastHeaders(_ start: String, _ locations: [String]) async throws -> HTTPHeaders {
        let session = StubSession { _ in .text("end") }
        for location in locations { session.enqueue(.status(307, headers: ["Location": location])) }
        let url = try #require(URL(string: start))
        _ = try await Router<URLEndPoint>(session: session).response(for: URLEndPoint(.get, url, headers: secrets))
        #expect(session.requests.count == locations.count + 1)
        return try #require(session.requests.last).headers
    }
}
