import Foundation
import Switchboard
import SwitchboardTesting
import Testing
import SwitchboardTestSupport
@testable import SwitchboardCookies

/// Two requests: the response to the first sets cookies, and the second carries some of them.
struct CookieVector: Sendable, CustomTestStringConvertible {
    let test: String
    /// The target of the first request.
    let from: String
    /// The values of `Set-Cookie`.
    let received: [String]
    /// The target of the second request, a path or a URL.
    let to: String
    /// The `Cookie` field of the second request, or nil when it has none.
    let expected: String?

    var testDescription: String { test }

    init(_ test: String, from: String? = nil, _ received: [String], to: String? = nil, sent expected: String?) {
        self.test = test
        self.from = from ?? "/cookie-parser?\(test)"
        self.received = received
        self.to = to ?? "/cookie-parser-result?\(test)"
        self.expected = expected
    }

    /// The cases of http-state that this package deviates from, with reasons.
    static let deviations = [
        "DISABLED_CHROMIUM0022": "a NUL refuses the whole cookie (RFC 6265bis §5.6), in place of ending its value",
        "DISABLED_CHROMIUM0023": "a CR refuses the whole cookie (RFC 6265bis §5.6), in place of ending its value",
        "DISABLED_PATH0029":
            "paths are compared as they are sent, escapes included (RFC 6265 §5.1.4; PATH0028 asks for that)",
    ]

    /// Returns the cases of http-state.
    static func all() throws -> [CookieVector] {
        try JSONDecoder().decode([CookieVector].self, from: CookieVector.file("parser"))
    }

    /// Returns a file of http-state without the comment before its JSON.
    static func file(_ name: String) throws -> Data {
        let lines = String(decoding: try Vectors.data("http-state/\(name).json"), as: UTF8.self).split(separator: "\n")
        return Data(lines.filter { !$0.hasPrefix("//") }.joined(separator: "\n").utf8)
    }

    /// Sends the two requests through a router and returns the `Cookie` field of the second.
    func run() async throws -> String? {
        let base = "http://home.example.org:8888"
        let first = try #require(URL(string: base + from))
        let second = try #require(URL(string: to.hasPrefix("/") ? base + to : to))
        // Not a stub, which would refuse the vectors with control characters.
        let seen = Deliveries<NetworkRequest>()
        let session = AdHocSession { request in
            seen.add(request)
            var response = NetworkResponse(statusCode: 200)
            if request.url == first { for field in received { response.headers.add("Set-Cookie", field) } }
            return response
        }
        // In 2011, since some dates of the vectors have passed.
        let jar = CookieJar { Date(timeIntervalSince1970: 1_300_000_000) }
        let router = Router<URLEndPoint>(session: session, exchangeInterceptors: [CookieInterceptor(jar)])
        for url in [first, second] { _ = try await router.rawResponse(for: URLEndPoint(.get, url)) }
        #expect(seen.all.first?.headers["Cookie"] == nil)
        return seen.all.last?.headers["Cookie"]
    }
}

extension CookieVector: Decodable {
    private struct Pair: Decodable {
        let name: String
        let value: String
    }

    private enum CodingKeys: String, CodingKey {
        case test, received, sent
        case sentTo = "sent-to"
    }

    /// Reads a case as http-state writes it.
    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        let sent = try fields.decode([Pair].self, forKey: .sent).map { "\($0.name)=\($0.value)" }
        self.init(
            try fields.decode(String.self, forKey: .test), try fields.decode([String].self, forKey: .received),
            to: try fields.decodeIfPresent(String.self, forKey: .sentTo),
            sent: sent.isEmpty ? nil : sent.joined(separator: "; "))
    }
}

extension CookieVector {
    /// The cases by section of RFC 6265. The jar's clock is in 2011.
    static let rfc6265: [CookieVector] = [
        // The first "=" ends the name. Blanks around name and value do not count, but quotes do.
        CookieVector("5.2 a pair", ["a=b"], sent: "a=b"),
        CookieVector("5.2 blanks around", ["  a  =  b  ; Path=/"], sent: "a=b"),
        CookieVector("5.2 a second equals sign", ["a=b=c"], sent: "a=b=c"),
        CookieVector("5.2 an empty value", ["a="], sent: "a="),
        CookieVector("5.2 quotes are of the value", [#"a="b c""#], sent: #"a="b c""#),
        CookieVector("5.2 a comma ends nothing", ["a=b,c=d"], sent: "a=b,c=d"),
        CookieVector("5.2 no equals sign", ["a"], sent: nil),
        CookieVector("5.2 no name", ["=b"], sent: nil),
        CookieVector("5.2 no name but an attribute's", ["; Path=/"], sent: nil),
        CookieVector("5.2 unknown attributes", ["a=b; c=d; ; =; e"], sent: "a=b"),
        CookieVector("5.2 names are compared by case", ["a=1", "A=2"], sent: "a=1; A=2"),
        CookieVector("5.2 of two equal attributes the last", ["a=b; Path=/x; Path=/"], sent: "a=b"),

        CookieVector("5.2.1 a date that has passed", ["a=b; Expires=Fri, 31 Dec 2010 23:59:59 GMT"], sent: nil),
        CookieVector("5.2.1 a date to come", ["a=b; Expires=Sat, 31 Dec 2011 23:59:59 GMT"], sent: "a=b"),
        CookieVector("5.2.1 no date", ["a=b; Expires=yesterday"], sent: "a=b"),
        CookieVector("5.2.1 the attribute in capitals", ["a=b; EXPIRES=Fri, 31 Dec 2010 23:59:59 GMT"], sent: nil),

        CookieVector("5.2.2 no time left", ["a=b; Max-Age=0"], sent: nil),
        CookieVector("5.2.2 less than none", ["a=b; Max-Age=-1"], sent: nil),
        CookieVector("5.2.2 some time", ["a=b; Max-Age=86400"], sent: "a=b"),
        CookieVector("5.2.2 another character among the digits", ["a=b; Max-Age=0x"], sent: "a=b"),
        CookieVector("5.2.2 no digits", ["a=b; Max-Age="], sent: "a=b"),
        CookieVector("5.2.2 the last counts", ["a=b; Max-Age=0; Max-Age=86400"], sent: "a=b"),
        CookieVector(
            "5.3 Max-Age wins over Expires", ["a=b; Max-Age=86400; Expires=Fri, 31 Dec 2010 23:59:59 GMT"], sent: "a=b"),
        CookieVector(
            "5.3 Max-Age wins, wherever it stands", ["a=b; Expires=Sat, 31 Dec 2011 23:59:59 GMT; Max-Age=0"],
            sent: nil),

        // The answer comes from home.example.org.
        CookieVector("5.2.3 a parent", ["a=b; Domain=example.org"], to: "http://home.example.org:8888/", sent: "a=b"),
        CookieVector("5.1.3 its other hosts", ["a=b; Domain=example.org"], to: "http://x.y.example.org/", sent: "a=b"),
        CookieVector("5.2.3 a dot in front", ["a=b; Domain=.example.org"], to: "http://x.example.org/", sent: "a=b"),
        CookieVector("5.2.3 capitals", ["a=b; Domain=EXAMPLE.ORG"], to: "http://x.example.org/", sent: "a=b"),
        CookieVector("5.2.3 an empty one", ["a=b; Domain="], to: "/", sent: "a=b"),
        CookieVector("5.3 another host", ["a=b; Domain=other.example.org"], to: "http://other.example.org/", sent: nil),
        CookieVector("5.3 nor is it kept here", ["a=b; Domain=other.example.org"], to: "/", sent: nil),
        CookieVector("5.3 a host below", ["a=b; Domain=x.home.example.org"], to: "/", sent: nil),
        CookieVector("5.1.3 a suffix within a label", ["a=b; Domain=ample.org"], to: "/", sent: nil),
        CookieVector("5.3 host-only", ["a=b"], to: "http://x.home.example.org:8888/", sent: nil),
        CookieVector(
            "5.1.3 a host that ends alike", ["a=b; Domain=example.org"], to: "http://bexample.org/", sent: nil),
        CookieVector("8.5 ports are not told apart", ["a=b"], to: "http://home.example.org/", sent: "a=b"),

        CookieVector("5.1.4 the path itself", ["a=b; Path=/x"], to: "/x", sent: "a=b"),
        CookieVector("5.1.4 a path below", ["a=b; Path=/x"], to: "/x/y", sent: "a=b"),
        CookieVector("5.1.4 a path that begins alike", ["a=b; Path=/x"], to: "/xy", sent: nil),
        CookieVector("5.1.4 a slash at the end", ["a=b; Path=/x/"], to: "/x", sent: nil),
        CookieVector("5.1.4 and a path below it", ["a=b; Path=/x/"], to: "/x/y", sent: "a=b"),
        CookieVector("5.1.4 capitals", ["a=b; Path=/x"], to: "/X", sent: nil),
        CookieVector("5.1.4 the query is no part", ["a=b; Path=/x"], to: "/x?y", sent: "a=b"),
        CookieVector("5.2.4 no slash in front", ["a=b; Path=x"], to: "/", sent: "a=b"),
        CookieVector("5.2.4 an empty path", ["a=b; Path="], to: "/", sent: "a=b"),
        CookieVector("5.1.4 the default path", from: "/x/y/z", ["a=b"], to: "/x/y", sent: "a=b"),
        CookieVector("5.1.4 not above it", from: "/x/y/z", ["a=b"], to: "/x", sent: nil),
        CookieVector("5.1.4 one slash alone", from: "/x", ["a=b"], to: "/y", sent: "a=b"),

        CookieVector("5.2.5 Secure", ["a=b; Secure"], sent: nil),
        CookieVector("5.2.5 in capitals, with a value", ["a=b; SECURE=no"], sent: nil),
        CookieVector("5.2.6 HttpOnly", ["a=b; HttpOnly"], sent: "a=b"),

        CookieVector("5.3 the same cookie again", ["a=b", "a=c"], sent: "a=c"),
        CookieVector("5.3 it keeps its age", ["a=1", "b=2", "a=3"], sent: "a=3; b=2"),
        CookieVector("5.3 it ends", ["a=b", "a=; Max-Age=0"], sent: nil),
        CookieVector("5.3 another path, another cookie", ["a=1; Path=/", "a=2; Path=/x"], to: "/x", sent: "a=2; a=1"),
        CookieVector(
            "5.3 another domain, another cookie", ["a=1", "a=2; Domain=example.org"], to: "/", sent: "a=1; a=2"),
        CookieVector(
            "5.4 longer paths first, then the older", ["a=1", "b=2; Path=/x", "c=3; Path=/x/y", "d=4; Path=/x"],
            to: "/x/y", sent: "c=3; b=2; d=4; a=1"),
    ]
}
