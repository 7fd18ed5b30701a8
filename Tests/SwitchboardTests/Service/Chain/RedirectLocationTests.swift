import Foundation
import SwitchboardTesting
import Testing

import SwitchboardTestSupport
@testable import Switchboard

@Suite(.timeLimit(.minutes(10)))
struct RedirectLocationTests {
    private let base = URL(text: "http://a/b/c/d;p?q")

    @Test("a relative Location resolves by RFC 3986 §5.4.1 (normal examples)", arguments: normal)
    func resolvesNormal(location: String, target: String) {
        #expect(RedirectInterceptor.resolve(location, against: base)?.absoluteString == target)
    }

    @Test("a relative Location resolves by RFC 3986 §5.4.2 (abnormal examples)", arguments: abnormal)
    func resolvesAbnormal(location: String, target: String) {
        #expect(RedirectInterceptor.resolve(location, against: base)?.absoluteString == target)
    }

    @Test("RFC 3986 §5.4 references that are not http URLs resolve to nil", arguments: ["g:h", "http:g"])
    func nowhere(location: String) {
        #expect(RedirectInterceptor.resolve(location, against: base) == nil)
    }

    /// Expected by the basic URL parser of the WHATWG's URL standard §4.4. It strips control characters and spaces, and
    /// has a state "special authority ignore slashes".
    @Test(
        "a Location with odd slashes, tabs or newlines resolves as in browsers",
        arguments: [
            ("http:///host/path", "http://host/path"), ("HTTP:////host/path", "HTTP://host/path"),
            ("https:///host", "https://host"), ("///host/path", "http://host/path"), ("////host", "http://host"),
            (#"http:\\host\path"#, "http://host/path"), (#"\\host/path"#, "http://host/path"),
            (#"/\host/path"#, "http://host/path"), (#"\path\to?a\b#c\d"#, "http://a/path/to?a%5Cb#c%5Cd"),
            (#"http://host\@other/"#, "http://host/@other/"), (#"..\g"#, "http://a/b/g"),
            ("ht\ttp://ho\tst/", "http://host/"), ("/\t/host/path", "http://host/path"),
            ("//ho\r\nst/a\nb", "http://host/ab"), (" \u{1}/g\t ", "http://a/g"), ("!/g", "http://a/b/c/!/g"),
            ("\thttp:\n///host/", "http://host/"), ("\r\n/\r\nb\r\n", "http://a/b"),
            (#"HtTpS:\\\host"#, "HtTpS://host"),
            // Not ASCII: a backslash with a mark, and a no-break space at the end.
            ("\\\u{301}x\t/é", "http://a/%CC%81x/%C3%A9"), ("/b\u{A0}", "http://a/b%C2%A0"),
            (#"/b?\é"#, "http://a/b?%5C%C3%A9"),
        ])
    func oddSlashes(location: String, target: String) {
        #expect(RedirectInterceptor.resolve(location, against: base)?.absoluteString == target)
    }

    @Test(
        "a Location with a scheme and no host resolves to nil",
        arguments: [
            "http:/host", "http:host", #"http:\host"#, "https:/host", "http:", "http://", "http:///", "///", #"\\"#,
            "http:///?x", "http://:80/", "ht\ttp:/host", "java\tscript:alert(1)",
        ])
    func noHost(location: String) {
        #expect(RedirectInterceptor.resolve(location, against: base) == nil)
    }

    @Test("dot segments in an absolute Location are removed (RFC 3986 §5.2.2)")
    func absoluteDots() {
        #expect(
            RedirectInterceptor.resolve("http://b/x/../y/./z?a/../b", against: base)?.absoluteString
                == "http://b/y/z?a/../b")
        #expect(RedirectInterceptor.resolve("//b/x/../y", against: base)?.absoluteString == "http://b/y")
    }

    @Test(
        "spaces and non-ASCII in a Location are escaped once; escapes stay",
        arguments: [
            ("/a b", "http://a/a%20b"), ("/a%20b", "http://a/a%20b"), ("/é", "http://a/%C3%A9"),
            ("/%C3%A9", "http://a/%C3%A9"),
            ("/100%", "http://a/100%25"), ("/a?q=ü x", "http://a/a?q=%C3%BC%20x"), ("/{id}", "http://a/%7Bid%7D"),
            ("/a|b", "http://a/a%7Cb"), ("/a\"b", "http://a/a%22b"), ("/x#a b", "http://a/x#a%20b"),
            // RFC 3492: bücher is xn--bcher-kva.
            ("http://bücher.test/é", "http://xn--bcher-kva.test/%C3%A9"),
            ("//bücher.test", "http://xn--bcher-kva.test"),
            ("docs//ü/a%20b", "http://a/b/c/docs//%C3%BC/a%20b"),
            ("http://b/é?ü", "http://b/%C3%A9?%C3%BC"), ("/東京", "http://a/%E6%9D%B1%E4%BA%AC"),
            // The host ends at a slash or question mark with a mark, too.
            ("http://b/\u{200C}x/caf%C3%A9", "http://b/%E2%80%8Cx/caf%C3%A9"),
            ("http://b?\u{301}a=%C3%A9", "http://b?%CC%81a=%C3%A9"),
        ])
    func escaped(location: String, target: String) {
        #expect(RedirectInterceptor.resolve(location, against: base)?.absoluteString == target)
    }

    @Test(
        "a Location without a fragment inherits it (RFC 9110 §10.2.2)",
        arguments: [
            ("/b", "http://a/b#top"), ("/b#own", "http://a/b#own"), ("/b#", "http://a/b#"),
            ("http://c/", "http://c/#top"),
            ("?x", "http://a/start?x#top"),
        ])
    func fragments(location: String, target: String) async throws {
        let session = StubSession(.status(302, headers: ["Location": location]), .text("end"))
        let response = try await Router<URLEndPoint>(session: session)
            .response(for: URLEndPoint(.get, URL(text: "http://a/start#top")))
        #expect(response.url?.absoluteString == target)
    }

    @Test(
        "an empty fragment is not inherited, one with a number sign is",
        arguments: [("", ""), ("#", ""), ("##x", "##x"), ("#a#b", "#a#b"), ("?x#", ""), ("?x#%C3%A9", "#%C3%A9")])
    func unusualFragments(ofBase end: String, inherited: String) throws {
        let start = try #require(URL(string: "http://a/start" + end))
        let target = try #require(URL(string: "http://a/b" + inherited))
        #expect(RedirectInterceptor.resolve("/b", against: start)?.absoluteString == target.absoluteString)
    }

    @Test("two Location fields that differ are refused, equal ones are one")
    func twoLocations() async throws {
        for (one, other) in [("/b", "/c"), ("/\u{E9}", "/e\u{301}")] {
            let both: HTTPHeaders = ["Location": one, "Location": other]
            let refused = Router<URLEndPoint>(session: StubSession(.status(302, headers: both), .text("end")))
            let error = await #expect(throws: NetworkError.self) {
                try await refused.response(for: URLEndPoint(.get, base))
            }
            #expect(error?.code == .redirectRefused)
            #expect(error?.statusCode == 302)
        }
        let same: HTTPHeaders = ["Location": "/b", "Location": "/b"]
        let followed = Router<URLEndPoint>(session: StubSession(.status(302, headers: same), .text("end")))
        #expect(try await followed.response(for: URLEndPoint(.get, base)).url?.absoluteString == "http://a/b")
    }

    @Test("a Location with spaces or non-ASCII is followed over the wire")
    func wire() async throws {
        try await MockServer.run { server in
            server.enqueue(
                .status(302, headers: ["Location": "/a b"]), .status(302, headers: ["Location": "/é?x=ü"]),
                .status(302, headers: ["Location": "../c"]), .text("end"))
            let router = Router<URLEndPoint>(session: DefaultSession.make())
            _ = try await router.response(for: URLEndPoint(.get, server.url))
            #expect(server.requests.map(\.target) == ["/", "/a%20b", "/%C3%A9?x=%C3%BC", "/c"])
        }
    }

    @Test(
        "a 3xx without a Location is returned unchanged",
        arguments: [301, 302, 303, 307, 308])
    func noLocation(status: Int) async throws {
        for headers: HTTPHeaders in [[:], ["Location": ""], ["Location": "  "]] {
            let session = StubSession { _ in .text("see above", statusCode: status, headers: headers) }
            let router = Router<URLEndPoint>(session: session)
            let response = try await router.rawResponse(for: URLEndPoint(.get, base))
            #expect(response.statusCode == status)
            #expect(response.text == "see above")
            #expect(session.requests.count == 1)
        }
    }

    @Test("other 3xx are returned unchanged, with a Location or without", arguments: [300, 304, 305, 306, 309, 399])
    func otherStatuses(status: Int) async throws {
        let session = StubSession { _ in .status(status, headers: ["Location": "/b"]) }
        let response = try await Router<URLEndPoint>(session: session).rawResponse(for: URLEndPoint(.get, base))
        #expect(response.statusCode == status)
        #expect(session.requests.count == 1)
    }

    @Test("twenty redirects are followed; the next throws with the last 3xx")
    func limit() async throws {
        for (count, succeeds) in [(20, true), (21, false)] {
            let session = StubSession { _ in .text("end") }
            for number in 1...count { session.enqueue(.status(302, headers: ["Location": "/\(number)"])) }
            let router = Router<URLEndPoint>(session: session)
            if succeeds {
                #expect(try await router.request(URLEndPoint(.get, base), as: String.self) == "end")
            } else {
                let error = await #expect(throws: NetworkError.self) {
                    try await router.response(for: URLEndPoint(.get, base))
                }
                #expect(error?.code == .tooManyRedirects)
                #expect(error?.headers?["Location"] == "/21")
            }
            #expect(session.requests.count == 21)
        }
    }

    @Test("a custom limit replaces the default, and .none follows no redirect")
    func chosenLimit() async throws {
        let circle = StubSession { _ in .status(302, headers: ["Location": "/again"]) }
        let router = Router<URLEndPoint>(session: circle, interceptors: [RedirectInterceptor(limit: 2)])
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: URLEndPoint(.get, base)) }
        #expect(error?.code == .tooManyRedirects)
        #expect(circle.requests.count == 3)
        let none = Router<URLEndPoint>(session: circle, interceptors: [RedirectInterceptor.none])
        #expect(try await none.rawResponse(for: URLEndPoint(.get, base)).statusCode == 302)
        #expect(circle.requests.count == 4)
        let one = Router<URLEndPoint>(session: circle, interceptors: [RedirectInterceptor(limit: 1)])
        let other = await #expect(throws: NetworkError.self) { try await one.response(for: URLEndPoint(.get, base)) }
        #expect(other?.reason?.hasPrefix("1 was followed, the next leads to ") == true)
    }

    // Excludes the empty reference of §5.4.1, because an empty Location is no redirect here.
    static let normal = [
        ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
        ("//g", "http://g"),
        ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q#s"),
        ("g#s", "http://a/b/c/g#s"),
        ("g?y#s", "http://a/b/c/g?y#s"), (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"),
        ("g;x?y#s", "http://a/b/c/g;x?y#s"),
        (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../", "http://a/b/"),
        ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"), ("../../g", "http://a/g"),
    ]
    static let abnormal = [
        ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"),
        ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"), ("g?y/./x", "http://a/b/c/g?y/./x"),
        ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g#s/./x"),
        ("g#s/../x", "http://a/b/c/g#s/../x"),
    ]
}
