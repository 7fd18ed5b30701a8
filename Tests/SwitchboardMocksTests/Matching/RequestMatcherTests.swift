import Foundation
import Switchboard
@testable import SwitchboardMocks
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

/// The requests that match, and the differences reported for others.
struct RequestMatcherTests {
    /// Returns the request as a stub records it.
    private func recorded(
        _ method: HTTPMethod = .get, _ url: String, headers: HTTPHeaders = [:], body: any HTTPBody = EmptyBody()
    ) async throws -> RecordedRequest {
        let session = StubSession(.status(200))
        _ = try await session.send(NetworkRequest(method, URL(string: url), headers: headers, body: body))
        return try #require(session.recordedRequests.first)
    }

    private func item(_ pair: String) -> URLQueryItem {
        let parts = pair.split(separator: "=")
        return URLQueryItem(name: String(parts[0]), value: parts[1].removingPercentEncoding)
    }

    @Test(
        "path patterns match segments and wildcards",
        arguments: [
            ("/3/popular", "/3/popular", true), ("/popular", "/3/popular", false), ("popular", "/3/popular", true),
            ("3/popular", "/3/popular", true), ("pular", "/3/popular", false), ("popular", "/popular", true),
            ("/film/*/videos", "/film/7/videos", true), ("/film/:id/videos", "/film/7/videos", true),
            ("/film/*", "/film/7/videos", false), ("/film/**", "/film/7/videos", true), ("/film/**", "/film", true),
            ("/**/videos", "/film/7/videos", true), ("/a/**/b/**/c", "/a/x/b/y/z/c", true),
            ("/a/**/b/**/c", "/a/x/y/c", false), ("/a/**/b/c", "/a/b/b/c", true), ("**", "/", true), ("/", "/", true),
            ("/a b", "/a%20b", true), ("/a%20b", "/a%20b", true), ("/a/b", "/a%2Fb", false), ("/a/", "/a", false),
            ("/\u{E9}", "/%C3%A9", true), ("/\u{E9}", "/e%CC%81", false),
            // A slash or question mark with a combining mark separates, too.
            ("/a/\u{301}b", "/a/%CC%81b", true), ("/a?\u{301}b=1", "/a?%CC%81b=1", true),
        ])
    func paths(pattern: String, path: String, matches: Bool) async throws {
        let request = try await recorded(.get, "http://h.test\(path)")
        #expect(RequestMatcher.path(pattern).matches(request) == matches)
        #expect(RequestMatcher.get(pattern).matches(request) == matches)
        #expect(!RequestMatcher.post(pattern).matches(request))
    }

    @Test(
        "URLs match by scheme, host, path and query",
        arguments: [
            (RequestMatcher.get("/p?page=1"), "http://h.test/p?page=1&x=2", ""),
            (.get("/p?page=1"), "http://h.test/p?page=2", #"query page is "2", not "1""#),
            (.get("/p?page"), "http://h.test/p", "there is no query item page"),
            (.get().query("a", "b c+d"), "http://h.test/p?a=b%20c%2Bd", ""),
            (.get().query("tag", "2"), "http://h.test/p?tag=1&tag=2", ""),
            (.get().query("tag", "3"), "http://h.test/p?tag=1&tag=2", #"query tag is "1" and "2", not "3""#),
            (
                .get("/p?q=\u{E9}"), "http://h.test/p?q=e%CC%81",
                "query q is \"e\u{301}\", not \"\u{E9}\", in other bytes"
            ),
            (.get().withoutQuery("x"), "http://h.test/p?x", "there is a query item x"),
            (.get("https://h.test/p"), "http://h.test/p", "the scheme is http"),
            (.get("http://other.test/p"), "http://h.test/p", "the host is h.test"),
            (.any.host("H.test"), "http://h.test:8080/p", ""), (.any.host("h.test:8080"), "http://h.test:8080/p", ""),
            (.any.host("h.test:80"), "http://h.test:8080/p", "the host is h.test:8080"),
            (.any.host("[::1]"), "http://[::1]:80/", ""), (.any.host("[::1]:80"), "http://[::1]/", ""),
            (.any.host("h.test:80"), "http://h.test/p", ""), (.get("http://h.test:80/p"), "http://h.test/p", ""),
            (.get("https://h.test:443/p"), "https://h.test/p", ""),
            (.get("https://h.test:443/p"), "https://h.test:8443/p", "the host is h.test:8443"),
            (.any.host("h.test:80"), "https://h.test/p", "the host is h.test"),
            // The host is sent as its A-label (RFC 5891 §4.4), which Python's codec `idna` makes too.
            (.get("https://b\u{FC}cher.test:8443/p"), "https://b\u{FC}cher.test:8443/p", ""),
            (.any.host("b\u{FC}cher.test"), "https://xn--bcher-kva.test/p", ""),
            (.get("http://h.test"), "http://h.test/", ""),
            (.get("http://h.test?x=1"), "http://h.test/?x=1", ""),
            (.get("http://h.test?x=1"), "http://h.test/p?x=1", "the path is /p"),
            (.get("/p#a"), "http://h.test/p#b", ""), (.get("/p?x=1#a"), "http://h.test/p?x=1#a", ""),
            (.path("http://h.test/p#a"), "http://h.test/p", ""), (.get("/q#a"), "http://h.test/p#a", "the path is /p"),
            (.get("/login?next=https://a.test/b"), "http://h.test/login?next=https://a.test/b", ""),
            (.get("proxy/https://x/y"), "http://h.test/proxy/https://x/y", ""),
            (.post("/p"), "http://h.test/q", "the method is GET; the path is /q"),
        ])
    func urls(matcher: RequestMatcher, url: String, differences: String) async throws {
        let request = try await recorded(.get, url)
        #expect(matcher.differences(request).joined(separator: "; ") == differences)
        #expect(matcher.matches(request) == differences.isEmpty)
    }

    @Test("conditions on fields and bodies match their content")
    func contents() async throws {
        let json = try await recorded(
            .post, "http://h.test/", headers: ["X-A": "1", "x-a": "2"], body: JSONBody(["b": [1, 2], "a": [0]]))
        #expect(RequestMatcher.post().header("X-a", "2").header("x-A").withoutHeader("X-B").matches(json))
        #expect(RequestMatcher.any.header("X-A", "3").differences(json) == ["header X-A is 1 and 2, not 3"])
        #expect(RequestMatcher.any.header("X-B", "3").differences(json) == ["there is no header X-B"])
        #expect(RequestMatcher.any.body(json: #"{ "a": [0], "b": [1, 2] }"#).matches(json))
        #expect(!RequestMatcher.any.body(json: #"{"a": [0], "b": [2, 1]}"#).matches(json))
        #expect(!RequestMatcher.any.body(json: #"{"a": [false], "b": [1, 2]}"#).matches(json))
        #expect(RequestMatcher.any.body(json: "{").differences(json) == ["the stub's own JSON cannot be read"])
        #expect(try RequestMatcher.any.body(encoding: ["a": [0], "b": [1, 2]]).matches(json))
        #expect(RequestMatcher.any.body(containing: "[1,2]").matches(json))
        let form = try await recorded(.post, "http://h.test/", body: FormBody(["a=b%26c", "a=d", "token=x"].map(item)))
        #expect(RequestMatcher.any.form("a", "d").form("a", "b&c").matches(form))
        #expect(RequestMatcher.any.form("a", "e").differences(form) == [#"the form's a is "b&c" and "d", not "e""#])
        #expect(RequestMatcher.any.body(json: "1").differences(form).first?.hasPrefix("the body is no JSON") == true)
        let raw = try await recorded(.put, "http://h.test/", body: DataBody(Data([0, 255])))
        #expect(RequestMatcher.any.body(Data([0, 255])).matches(raw))
        #expect(RequestMatcher.any.body("text").differences(raw) == ["the body is 2 bytes"])
        #expect(RequestMatcher.any.matching("large") { $0.body.count > 9 }.differences(raw) == ["it is not large"])
    }

    @Test("texts match byte by byte")
    func bytes() async throws {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        let body = FormBody([URLQueryItem(name: "f", value: decomposed)])
        let form = try await recorded(.post, "http://h.test/?\(decomposed)=1", headers: ["X": decomposed], body: body)
        let json = try await recorded(.post, "http://h.test/", body: DataBody(Data("{\"\(decomposed)\": 1}".utf8)))
        #expect(RequestMatcher.any.header("X", decomposed).form("f", decomposed).query(decomposed).matches(form))
        #expect(RequestMatcher.any.body(json: "{\"\(decomposed)\": 1}").body(containing: decomposed).matches(json))
        #expect(form.queryValue(decomposed) == "1" && form.queryValue(composed) == nil)
        #expect(!RequestMatcher.any.header("X", composed).matches(form))
        #expect(!RequestMatcher.any.form("f", composed).matches(form))
        #expect(!RequestMatcher.any.query(composed).matches(form))
        #expect(!RequestMatcher.any.body(json: "{\"\(composed)\": 1}").matches(json))
        #expect(!RequestMatcher.any.body(containing: composed).matches(json))
    }

    @Test("messages of a matcher have no secrets")
    func noSecrets() async throws {
        let request = try await recorded(
            .post, "http://h.test/p?api_key=s3cret", headers: ["Authorization": "Bearer s3cret"],
            body: JSONBody(["password": "s3cret"]))
        let matcher = RequestMatcher.get("/q?api_key=0ther").header("Authorization", "Bearer 0ther")
            .body(json: #"{"password": "0ther"}"#).form("token", "0ther").body(#"{"password": "0ther"}"#)
        let text = "\(matcher)" + matcher.differences(request).joined()
        #expect(!text.contains("s3cret") && !text.contains("0ther"))
        #expect(matcher.differences(request).count == 7)
    }

    @Test("stubs do not mask the whole of a large body that they do not match")
    func largeBody() async throws {
        var requests: [Int: RecordedRequest] = [:]
        for count in [2_000, 16_000] {
            let body = "[" + String(repeating: #"{"id":1,"title":"some words"},"#, count: count) + "0]"
            requests[count] = try await recorded(.post, "http://h.test/p", body: DataBody(Data(body.utf8)))
        }
        let endPoint = URLEndPoint(.post, try #require(URL(string: "http://h.test/p")))
        let matchers: [RequestMatcher] = [
            .any.body("a"), .any.body(Data("a".utf8)), .any.body(containing: "b\n"), .any.body(json: "[]"),
            .endPoint(endPoint),
        ]
        let growth = try growth(from: 2_000, to: 16_000, of: { try #require(requests[$0]) }) { request in
            for matcher in matchers {
                let differences = matcher.differences(request)
                #expect(differences.count == 1 && differences[0].contains(#"[{"id":1,"title":"some words"},{"#))
            }
        }
        // A body is compared as a whole, but only its beginning is masked.
        #expect(growth < 4)
    }

    @Test("a message says that a difference is in a part that is not shown")
    func hiddenDifferences() async throws {
        let url = try #require(URL(string: "http://h.test/"))
        let long = String(repeating: "a", count: 300)
        let request = try await recorded(
            .post, "http://h.test/?token=1", headers: ["Authorization": "Bearer 1"],
            body: DataBody(Data((long + "b").utf8)))
        let form = try await recorded(
            .post, "http://h.test/", body: FormBody([URLQueryItem(name: "token", value: "1")]))
        let json = try await recorded(.post, "http://h.test/", body: JSONBody(["token": "1"]))
        let hidden = "; the difference is in a part that is not shown"
        for differences in [
            RequestMatcher.any.query("token", "2").differences(request),
            RequestMatcher.any.header("Authorization", "Bearer 2").differences(request),
            RequestMatcher.any.body(long + "c").differences(request),
            RequestMatcher.any.form("token", "2").differences(form),
            RequestMatcher.any.body(json: #"{"token":"2"}"#).differences(json),
            RequestMatcher.endPoint(URLEndPoint(.post, url, task: .requestBody(JSONBody(["token": "2"])))).differences(
                json),
        ] {
            #expect(differences.count == 1)
            #expect(differences.first?.hasSuffix(hidden) == true, "\(differences)")
        }
        #expect(RequestMatcher.any.query("token", "1").differences(request).isEmpty)
    }

    @Test(
        "a target that is a whole URL is compared in place of Host",
        arguments: [
            (RequestMatcher.get("http://films.test/a"), ""), (.any.host("films.test:80"), ""),
            (.get("http://other.test/a"), "the host is films.test"),
            (.get("https://films.test/a"), "the scheme is http"),
        ])
    func wholeTarget(matcher: RequestMatcher, differences: String) async throws {
        try await MockServer.run { server in
            let client = try RawClient(port: server.port)
            client.send("GET HTTP://ann@films.test/a HTTP/1.1\r\nHost: other.test\r\nConnection: close\r\n\r\n")
            var request = try await server.takeRequest()
            request.isSecure = true  // as over a proxy with TLS
            let found = matcher.differences(request).joined(separator: "; ")
            #expect(found == differences)
        }
    }

    @Test("a host without a scheme is no condition, and the message says so")
    func hostWithoutScheme() async throws {
        let request = try await recorded(.get, "http://h.test:8080/v1/films")
        #expect(
            RequestMatcher.get("H.test:8080/v1/films").differences(request)
                == ["the path is /v1/films; a host needs a scheme, as in http://H.test:8080"])
        #expect(RequestMatcher.get("v2/films").differences(request) == ["the path is /v1/films"])
    }

    @Test("the user of a URL is no condition and is not in the description")
    func userInfo() async throws {
        let url = try #require(URL(string: "http://ann:s3cret@h:8080/a@b"))
        let session = StubSession { _ in .status(200) }
        _ = try await session.send(NetworkRequest(.get, url))
        let request = try #require(session.recordedRequests.first)
        for matcher in [RequestMatcher.get(url.absoluteString), .path(url.absoluteString)] {
            #expect(matcher.differences(request).isEmpty)
            #expect(!matcher.description.contains("s3cret"))
            #expect(matcher.description.contains("h:8080/a@b"))
        }
        for path in ["/a?next=https://ann@h/a", "/proxy/http://ann@h/a"] {
            _ = try await session.send(NetworkRequest(.get, URL(string: "http://h" + path)))
            let request = try #require(session.recordedRequests.last)
            #expect(RequestMatcher.get(path).differences(request).isEmpty)
        }
    }

    @Test("a matcher's description has its conditions")
    func description() {
        let matcher = RequestMatcher.post("/p?page=1").header("X", "1").body(containing: "hello")
        #expect(matcher.description == "POST /p, query page=1, header X: 1, a body with hello")
        #expect(RequestMatcher.any.description == "any request")
    }
}
