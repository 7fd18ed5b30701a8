import Foundation
import Switchboard
import SwitchboardTestSupport
import Testing

struct NetworkRequestTests {
    @Test("changing a copy never changes the original", .requirement("S2.9"))
    func copies() throws {
        enum Tag: RequestOption { static let defaultValue = "none" }
        let original = NetworkRequest(.get, URL(text: "https://h.example/a?b=c"), headers: ["X": "1"])
        var copy = original
        copy.method = .post
        copy.path = "/other"
        copy.query = nil
        copy.host = "other.example"
        copy.headers["X"] = "2"
        copy.headers.add("Y", "3")
        copy.body = DataBody(Data("x".utf8))
        copy[Tag.self] = "copy"
        copy.timeouts.idle = .seconds(1)
        copy.limits.responseBody = 5
        #expect(original.method == .get && original.url?.absoluteString == "https://h.example/a?b=c")
        #expect(original.headers == ["X": "1"] && original.body.isEmpty && original[Tag.self] == "none")
        #expect(original.timeouts == .standard && original.limits == ResponseLimits())
        #expect(copy.url?.absoluteString == "https://other.example/other" && copy[Tag.self] == "copy")
    }

    @Test("each request has a unique id, which its copies share", .requirement("S2.9"))
    func ids() throws {
        let requests = (0..<1_000).map { _ in NetworkRequest(.get, nil) }
        #expect(Set(requests.map(\.id)).count == 1_000)
        var copy = requests[0]
        copy.method = .post
        #expect(copy.id == requests[0].id)
        let endPoint = EndPointFixture()
        #expect(try RequestBuilder().makeRequest(for: endPoint).id != RequestBuilder().makeRequest(for: endPoint).id)
    }

    @Test("scheme, host, port, path and query build the URL, in any order", .requirement("S2.9"))
    func setters() throws {
        var request = NetworkRequest(.get, nil)
        #expect(
            request.url == nil && request.scheme == "https" && request.host == "" && request.query == nil
                && request.port == nil)
        request.path = "v1/movies"
        #expect(request.url == nil)
        request.host = "h.example"
        #expect(request.url?.absoluteString == "https://h.example/v1/movies")
        request.query = "a=1&b=x y"
        request.port = 8080
        request.scheme = "http"
        #expect(request.url?.absoluteString == "http://h.example:8080/v1/movies?a=1&b=x%20y")
        request.port = nil
        request.path = ""
        #expect(request.url?.absoluteString == "http://h.example?a=1&b=x%20y")
        request.query = nil
        #expect(request.url?.absoluteString == "http://h.example")
        try request.validate()
        request.url = URL(text: "https://else.example/x")
        #expect(request.host == "else.example" && request.path == "/x")
    }

    @Test(
        "the parts of a URL are split as RFC 3986 specifies", .requirement("S2.9"),
        arguments: [
            ("https://u:p@h.example:8443/a/b?c=d?e#f", "https", "h.example", 8443, "/a/b", "c=d?e"),
            ("http://[::1]:80/", "http", "[::1]", 80, "/", nil), ("http://[::1]", "http", "[::1]", nil, "/", nil),
            ("HTTPS://H.example?q", "HTTPS", "H.example", nil, "/", "q"), ("http://h/?", "http", "h", nil, "/", ""),
            ("http://h/a%2Fb#x?y", "http", "h", nil, "/a%2Fb", nil),
            // A zone (RFC 6874 §2), and the sub-delims of a name (RFC 3986 §3.2.2).
            ("http://[fe80::1%25eth0]:80/a", "http", "[fe80::1%25eth0]", 80, "/a", nil),
            ("http://a!$&'()*+,;=b/", "http", "a!$&'()*+,;=b", nil, "/", nil),
        ] as [(String, String, String, Int?, String, String?)])
    func parts(text: String, scheme: String, host: String, port: Int?, path: String, query: String?) throws {
        var request = NetworkRequest(.get, URL(string: text))
        #expect(
            request.scheme == scheme && request.host == host && request.port == port && request.path == path
                && request.query == query)
        // Writing the parts back results in the same URL, user and fragment included.
        request.path = request.path
        request.query = request.query
        request.host = request.host
        #expect(request.url?.absoluteString == text)
    }

    @Test(
        "an invalid part is an .invalidRequest that names it", .requirement("S2.9"),
        arguments: [
            ("scheme", "ftp"), ("scheme", "ht tp"), ("scheme", ""), ("host", ""), ("host", "a b"), ("host", "a/b"),
            ("host", "u@h"),
            ("host", "ex%61mple.com"), ("host", "h:80"), ("host", "h?x"), ("host", "h#x"), ("host", "h\r\nX: y"),
            ("host", "[]"),
            // A slash with a mark is one Character, and still ends the host (RFC 3986 §3.2).
            ("host", "a/\u{301}b"), ("host", "a?\u{FE0F}b"), ("host", "a#\u{200D}b"),
            ("port", "65536"), ("port", "-1"),
            ("path", "a\r\nb"), ("path", "a\0"), ("query", "a\nb"),
            ("path", "users/\(segment: "..")"), ("path", "/.%2e/a"),
        ])
    func badParts(part: String, value: String) throws {
        var request = NetworkRequest(.get, URL(text: "https://h.example/p?q"))
        switch part {
        case "scheme": request.scheme = value
        case "host": request.host = value
        case "port": request.port = Int(value)
        case "path": request.path = value
        default: request.query = value
        }
        #expect(request.url == nil)
        let error = #expect(throws: NetworkError.self) { try request.validate() }
        #expect(error?.code == .invalidRequest)
        #expect(error?.reason?.contains(part) == true)
        #expect(error?.reason?.contains(where: \.isNewline) == false)
    }

    @Test("escaped dots in a URL stay when its other parts are set", .requirement("S2.9"))
    func escapedDots() throws {
        var request = NetworkRequest(.get, URL(text: "https://h.example/a/%2E%2E/b"))
        request.query = "c"
        request.path = request.path
        try request.validate()
        #expect(request.url?.absoluteString == "https://h.example/a/%2E%2E/b?c")
        request.path = "%2E"
        request.path = "d"
        #expect(request.url?.absoluteString == "https://h.example/d?c")
    }

    @Test(
        "setting a path or query escapes its invalid characters", .requirement("S2.9"),
        arguments: [
            ("a b", "/a%20b", "a%20b"), ("/é", "/%C3%A9", "/%C3%A9"), ("a?b", "/a%3Fb", "a?b"),
            ("a#b", "/a%23b", "a%23b"),
            ("100%", "/100%25", "100%25"), ("%2F", "/%2F", "%2F"),
        ])
    func escapedParts(value: String, path: String, query: String) {
        var request = NetworkRequest(.get, URL(text: "https://h.example"))
        request.path = value
        #expect(request.url?.absoluteString == "https://h.example" + path)
        request.path = ""
        request.query = value
        #expect(request.url?.absoluteString == "https://h.example?" + query)
    }

    @Test("a new path that differs only in bytes replaces the path", .requirement("S2.9"))
    func pathInOtherBytes() {
        var request = NetworkRequest(.get, URL(text: "https://h.example/K"))
        // The Kelvin sign equals a K.
        request.path = "/\u{212A}"
        #expect(request.url?.absoluteString == "https://h.example/%E2%84%AA")
    }

    @Test("a missing URL is \"URL is nil.\", another scheme is .invalidRequest")
    func noURL() {
        let missing = #expect(throws: NetworkError.self) { try NetworkRequest(.get, nil).validate() }
        #expect(missing?.code == .missingURL && missing?.message == "URL is nil.")
        let file = #expect(throws: NetworkError.self) {
            try NetworkRequest(.get, URL(fileURLWithPath: "/etc")).validate()
        }
        #expect(file?.code == .invalidRequest)
    }

    @Test("a request's text and dump show no secret")
    func description() {
        let request = NetworkRequest(
            .get, URL(text: "https://ann:s3cret@h.example/p?api_key=s3cret&page=1"),
            headers: ["Authorization": "s3cret"])
        var dumped = ""
        dump(request, to: &dumped)
        for text in ["\(request)", String(reflecting: request), dumped] {
            #expect(!text.contains("s3cret") && text.contains("GET") && text.contains("page=1"))
        }
    }
}
