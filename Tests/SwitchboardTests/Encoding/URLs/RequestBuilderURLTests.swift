import Foundation
import Switchboard
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

struct RequestBuilderURLTests {
    private func url(_ base: String, _ path: String, _ parameters: Parameters? = nil) throws -> String? {
        let endPoint = EndPointFixture(base: base, path: path, task: .requestParameters(urlParameters: parameters))
        return try RequestBuilder().makeRequest(for: endPoint).url?.absoluteString
    }

    @Test(
        "base and path join with exactly one slash, keeping the base's path", .requirement("S1.2", "S4.5"),
        arguments: [
            ("https://h.example", "friends", "https://h.example/friends"),
            ("https://h.example", "/friends", "https://h.example/friends"),
            ("https://h.example/", "friends", "https://h.example/friends"),
            ("https://h.example/", "/friends", "https://h.example/friends"),
            ("https://h.example/api/v1", "friends", "https://h.example/api/v1/friends"),
            ("https://h.example/api/v1", "/friends", "https://h.example/api/v1/friends"),
            ("https://h.example/api/v1/", "friends", "https://h.example/api/v1/friends"),
            ("https://h.example/api/v1/", "/friends", "https://h.example/api/v1/friends"),
        ])
    func slashes(base: String, path: String, expected: String) throws {
        #expect(try url(base, path) == expected)
        #expect(try url(base, path, ["a": 1]) == expected + "?a=1")
    }

    @Test("bare characters of a custom encoder reach the server escaped")
    func bareCharacters() async throws {
        let form = URLEncodedFormEncoder(allowedCharacters: CharacterSet(charactersIn: "a|<>^é"))
        let encoding = ParameterEncoding.jsonEncoding(query: form)
        try await MockServer.run { server in
            server.enqueue(.text("here"))
            let endPoint = EndPointFixture(
                base: server.url.absoluteString, path: "x",
                task: .requestParameters(bodyEncoding: encoding, urlParameters: ["a": "<|^>é"]))
            let response = try await Router<EndPointFixture>().response(for: endPoint)
            // quote("<|^>é") in Python
            let query = "a=%3C%7C%5E%3E%C3%A9"
            #expect(response.url?.query(percentEncoded: true) == query)
            #expect(try await server.takeRequest().query == query)
        }
    }

    @Test("a response without a URL gets the URL of its request")
    func urlOfResponse() async throws {
        let router = Router<EndPointFixture>(session: AdHocSession { _ in NetworkResponse(statusCode: 200) })
        let response = try await router.response(for: EndPointFixture(path: "films", httpMethod: .get))
        #expect(response.url?.absoluteString == "https://api.example.com/v1/films")
    }

    @Test(
        "an error names the wrong character in words",
        arguments: [
            ("https://h.example /v1", "a", [:], "contains a space"),
            ("https://h.example\t/v1", "a", [:], "contains a tab"),
            ("https://h.example", "a\rb", [:], "contains a carriage return"),
            ("https://h.example", "a\nb", [:], "a line feed"),
            ("https://h.example", "a\0b", [:], "contains a NUL"),
            (
                "https://h.example", "a", ["X-Name": "a\r\nb"],
                "header X-Name contains a carriage return (RFC 9110 §5.5)"
            ),
            ("https://h.example", "a", ["X-Name": "a\u{1B}b"], "header X-Name contains the control character 0x1B"),
        ] as [(String, String, HTTPHeaders, String)])
    func characters(base: String, path: String, headers: HTTPHeaders, words: String) {
        let endPoint = EndPointFixture(base: base, path: path, headers: headers)
        let error = #expect(throws: NetworkError.self) { try RequestBuilder().makeRequest(for: endPoint) }
        #expect(error?.description.contains(words) == true, "\(error as Any)")
    }

    @Test(
        "a join keeps trailing slashes, empty paths and slashes inside a path", .requirement("S1.2"),
        arguments: [
            ("https://h//", "//a", "https://h/a"), ("https://h/a/", "", "https://h/a/"),
            ("https://h/a", "", "https://h/a"),
            ("https://h/a", "/", "https://h/a/"), ("https://h", "/", "https://h/"),
            ("https://h", "a/b/", "https://h/a/b/"),
            ("https://h/x", "//evil.example/a", "https://h/x/evil.example/a"), ("https://h", "a//b", "https://h/a//b"),
            ("https://h", "https://evil.example/", "https://h/https://evil.example/"),
            ("https://h", "@evil.example", "https://h/@evil.example"),
            ("https://h", ":80", "https://h/:80"), ("http://u:p@h:8080/a", "b", "http://u:p@h:8080/a/b"),
            ("http://[::1]:80", "b", "http://[::1]:80/b"),
        ])
    func moreSlashes(base: String, path: String, expected: String) throws {
        #expect(try url(base, path) == expected)
    }

    // Expected: python3, urllib.parse.quote(path, safe="/%!$&'()*+,;=:@-._~") where the text holds no stray percent sign.
    @Test(
        "invalid characters in a path are escaped once; a valid %XX stays",
        arguments: [
            ("a b", "a%20b"), ("é/🌎", "%C3%A9/%F0%9F%8C%8E"), ("a%20b", "a%20b"), ("100%", "100%25"), ("%zz", "%25zz"),
            ("%4", "%254"),
            ("a#b", "a%23b"), ("[x]{y}|\\^`\"<>", "%5Bx%5D%7By%7D%7C%5C%5E%60%22%3C%3E"),
            ("!$&'()*+,;=:@-._~", "!$&'()*+,;=:@-._~"),
            ("a\tb", "a%09b"), ("%2F", "%2F"), ("%c3%a9", "%c3%a9"),
        ])
    func pathsAreText(path: String, expected: String) throws {
        #expect(try url("https://h", path) == "https://h/" + expected)
    }

    @Test(
        "a query in the path goes between the base's query and the parameters", .requirement("S3.4"),
        arguments: [
            ("https://h/b", "p?page=1", "https://h/b/p?page=1&a=1"),
            ("https://h/b?key=1", "p?page=1", "https://h/b/p?key=1&page=1&a=1"),
            ("https://h/b?key=1", "p", "https://h/b/p?key=1&a=1"), ("https://h/b?", "p?", "https://h/b/p?a=1"),
            ("https://h/b/?k=/", "/p", "https://h/b/p?k=/&a=1"), ("https://h/b", "?page=1", "https://h/b?page=1&a=1"),
            ("https://h/b", "p?q=a b&r=é?/", "https://h/b/p?q=a%20b&r=%C3%A9?/&a=1"),
            ("https://h/b?key=1#top", "p", "https://h/b/p?key=1&a=1#top"),
            ("https://h/b#top", "p?x=1", "https://h/b/p?x=1&a=1#top"),
            ("https://h/b?k", "p?x=%41&y=50%", "https://h/b/p?k&x=%41&y=50%25&a=1"),
        ])
    func queriesInThePath(base: String, path: String, expected: String) throws {
        #expect(try url(base, path, ["a": 1]) == expected)
    }

    @Test(
        "a base that is not an http URL with a host is .invalidRequest", .requirement("S4.5"),
        arguments: [
            "", "h.example", "//h.example", "ftp://h.example", "file:///etc/passwd", "https:", "https://", "https:///p",
            "https://:80/",
            "https://?q", "https://u@", "javascript:alert(1)", "ht tp://h", "https://h h/", "https://[::1",
            "mailto:a@b",
        ])
    func badBases(base: String) {
        let error = #expect(throws: NetworkError.self) { try url(base, "path") }
        #expect(error?.code == .invalidRequest)
        #expect(error?.endPointName == "EndPointFixture")
    }

    @Test("an error of an impossible request names the part at fault", .requirement("S0.11"))
    func localizedDescription() throws {
        var parts = NetworkRequest(.get, nil)
        parts.scheme = "ws"
        parts.host = "h"
        let ported = NetworkRequest(.get, URL(string: "http://h:99999/"))
        let errors = [
            (#expect(throws: NetworkError.self) { try url("no URL", "") }, "URL"),
            (#expect(throws: NetworkError.self) { try url("ws://h/chat", "") }, "scheme"),
            (#expect(throws: NetworkError.self) { try url("https://", "a") }, "host"),
            (#expect(throws: NetworkError.self) { try url("https://h", "a\r\nb") }, "path"),
            (
                #expect(throws: NetworkError.self) {
                    try RequestBuilder().makeRequest(for: EndPointFixture(headers: ["a b": "c"]))
                }, "a b"
            ),
            (#expect(throws: NetworkError.self) { try parts.validate() }, "scheme"),
            (#expect(throws: NetworkError.self) { try ported.validate() }, "port"),
            (#expect(throws: NetworkError.self) { try NetworkRequest("G T", ported.url).validate() }, "method"),
        ]
        for (error, part) in errors {
            let any: any Error = try #require(error)
            #expect(any.localizedDescription.hasPrefix("Unable to create the request: "))
            #expect(any.localizedDescription.contains(part), "\(any.localizedDescription)")
            #expect(error?.message == "Unable to create the request")
            #expect(error?.failureReason?.contains(part) == true)
        }
    }

    @Test(
        "CR, LF or NUL in a path is refused; the one-line reason has no secret",
        arguments: ["\r", "\n", "\0", "\r\n"])
    func controlsInThePath(control: String) {
        let error = #expect(throws: NetworkError.self) { try url("https://h", "pa\(control)th?api_key=s3cret") }
        #expect(error?.code == .invalidRequest)
        #expect(error?.reason?.contains("path") == true)
        #expect(error?.reason?.contains(where: \.isNewline) == false)
        #expect(error?.reason?.contains("s3cret") == false)
        let query = #expect(throws: NetworkError.self) { try url("https://h", "path?a=b\(control)") }
        #expect(query?.code == .invalidRequest)
    }

    // RFC 3986 §6.2.2.2: an escaped unreserved character equals the bare one, so these segments go up as `..` does.
    @Test(
        "a segment of escaped dots is refused, also an interpolated one",
        arguments: ["%2E%2E", ".%2e", "%2E", "\(segment: "..")"])
    func escapedDots(segment: String) throws {
        let error = #expect(throws: NetworkError.self) { try url("https://h", "users/\(segment)/secret") }
        #expect(error?.code == .invalidRequest)
        #expect(error?.reason?.contains("escaped dots") == true)
        #expect(try url("https://h", "a%2Eb/...") == "https://h/a%2Eb/...")
    }

    // RFC 3986 §2.3: everything but the unreserved characters; python3, urllib.parse.quote(value, safe="").
    @Test(
        "an interpolated segment stays one segment",
        arguments: [
            ("a/b", "a%2Fb"), ("a b?c#d%e", "a%20b%3Fc%23d%25e"), ("é", "%C3%A9"),
            ("...", "..."),
            ("a..b", "a..b"), ("", ""), ("\r\n", "%0D%0A"), ("%2F", "%252F"), ("-._~", "-._~"),
        ])
    func segments(value: String, expected: String) throws {
        #expect("users/\(segment: value)/posts" == "users/\(expected)/posts")
        #expect(try url("https://h", "users/\(segment: value)/posts") == "https://h/users/\(expected)/posts")
        #expect("\(segment: 5)-\(segment: UInt8(7))" == "5-7")
    }

    @Test("a throwing baseURL is .invalidRequest with its error and endpoint")
    func baseURLThrows() {
        struct Refusal: Error {}
        struct Broken: EndPointType {
            var baseURL: URL { get throws { throw Refusal() } }
            var path: String { "x" }
        }
        let error = #expect(throws: NetworkError.self) { try RequestBuilder().makeRequest(for: Broken()) }
        #expect(error?.code == .invalidRequest && error?.underlying is Refusal && error?.endPointName == "Broken")
    }
}
