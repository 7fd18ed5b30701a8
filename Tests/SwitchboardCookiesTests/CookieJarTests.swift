import Foundation
import SwitchboardPlatform
import SwitchboardTesting
import Testing

@testable import Switchboard
import SwitchboardTestSupport
@testable import SwitchboardCookies

@Suite(.timeLimit(.minutes(10)))
struct CookieJarTests {
    private let jar = CookieJar(now: { Date(timeIntervalSince1970: 1_300_000_000) }) {
        !$0.contains(".") || $0 == "co.uk"
    }

    /// Returns the cookies that a second request carries after a first response set these.
    private func sent(_ fields: [String], from: String, to: String) throws -> [String] {
        jar.store(fields, from: try #require(URL(string: from)))
        return try sent(to: to)
    }

    private func sent(to: String) throws -> [String] {
        jar.cookies(for: try #require(URL(string: to))).map { "\($0.name)=\($0.value)" }
    }

    @Test("a partition whose cookies were removed takes no memory")
    func emptyPartitions() throws {
        let url = URL(text: "https://x.example/")
        for partition in ["a", "b", "c"] { jar.store(["id=1"], from: url, in: partition) }
        jar.remove(in: "a")
        jar.store(["id=1; Max-Age=0"], from: url, in: "b")
        try jar.set(StoredCookie("id", "1", domain: "x.example", expires: .distantPast), in: "c")
        let count = jar.state.withLock { $0.stores.count }
        #expect(count == 0)
    }

    @Test(
        "a public suffix sets cookies for itself only (RFC 6265 §5.3)",
        arguments: [
            ("a=1; Domain=co.uk", "https://x.co.uk/", "https://x.co.uk/", 0),
            ("a=1; Domain=co.uk", "https://co.uk/", "https://co.uk/", 1),
            ("a=1; Domain=co.uk", "https://co.uk/", "https://x.co.uk/", 0),
            ("a=1; Domain=uk", "https://x.co.uk/", "https://x.co.uk/", 0),
            ("a=1; Domain=localhost", "http://localhost/", "http://localhost/", 1),
            ("a=1; Domain=localhost", "http://localhost/", "http://app.localhost/", 0),
            ("a=1; Domain=x.co.uk", "https://x.co.uk/", "https://y.x.co.uk/", 1),
            ("a=1", "https://x.co.uk/", "https://y.x.co.uk/", 0),
            // With the root's dot.
            ("a=1; Domain=co.uk.", "https://evil.co.uk./", "https://bank.co.uk./", 0),
            ("a=1; Domain=co.uk.", "https://co.uk./", "https://bank.co.uk./", 0),
            ("a=1; Domain=uk.", "https://evil.co.uk./", "https://evil.co.uk./", 0),
            // A lone dot leaves no domain (§5.2.3), so the cookie is for the host.
            ("a=1; Domain=.", "https://evil.co.uk./", "https://evil.co.uk./", 1),
            ("a=1; Domain=.", "https://evil.co.uk./", "https://bank.co.uk./", 0),
            ("a=1; Domain=co.uk; Domain=.", "https://x.co.uk/", "https://x.co.uk/", 1),
            ("a=1; Domain=.", "https://x.co.uk/", "https://y.x.co.uk/", 0),
            ("a=1; Domain=x.co.uk.", "https://x.co.uk./", "https://y.x.co.uk./", 1),
            ("a=1; Domain=0.0.1.", "http://127.0.0.1./", "http://127.0.0.1./", 0),
        ])
    func suffixes(field: String, from: String, to: String, count: Int) throws {
        #expect(try sent([field], from: from, to: to).count == count)
    }

    @Test("an expired cookie neither blocks one nor keeps its place (RFC 6265)")
    func expiredCookies() throws {
        let time = Protected(Date(timeIntervalSince1970: 1_300_000_000))
        let jar = CookieJar(now: { time.value })
        let (plain, secure) = (URL(text: "http://a.example/"), URL(text: "https://a.example/"))
        jar.store(["sid=1; Secure; Max-Age=10", "first=1; Max-Age=10", "second=1"], from: secure)
        jar.store(["sid=2"], from: plain)
        #expect(jar.cookies(for: plain).map(\.name) == ["first", "second"])
        time.withLock { $0 += 20 }
        jar.store(["sid=2", "first=2"], from: plain)
        #expect(jar.cookies(for: plain).map { "\($0.name)=\($0.value)" } == ["second=1", "sid=2", "first=2"])
        #expect(jar.description == "CookieJar of 3 cookies")
    }

    @Test("cookies are removed by the bytes of their names")
    func removalByBytes() throws {
        for name in ["\u{e9}", "e\u{301}"] { try jar.set(StoredCookie(name, "x", domain: "a.example")) }
        jar.remove { $0.name.utf8.count == 2 }
        #expect(jar.cookies().map(\.name.utf8.count) == [3])
        jar.remove()
        #expect(jar.cookies().isEmpty && jar.description == "CookieJar of 0 cookies")
    }

    @Test("an app sets and removes a cookie in one partition")
    func ownPartition() throws {
        for name in ["a", "b"] {
            try jar.set(StoredCookie(name, "qa", domain: "a.example"), in: "qa")
            #expect(jar.cookies(in: nil).isEmpty)
        }
        try jar.set(StoredCookie("a", "1", domain: "a.example"))
        jar.remove(in: "qa") { $0.name == "a" }
        #expect(jar.cookies(in: "qa").map(\.name) == ["b"] && jar.cookies(in: nil).map(\.name) == ["a"])
        jar.remove(in: nil)
        #expect(jar.cookies().map(\.name) == ["b"])
    }

    @Test("an app's cookie for an IPv6 address is sent, with and without brackets", arguments: ["[::1]", "::1"])
    func addressOfApp(domain: String) throws {
        try jar.set(StoredCookie("a", "1", domain: domain, isSecure: false))
        #expect(try sent(to: "http://[::1]:8080/") == ["a=1"])
    }

    @Test(
        "a customer of a host sets no cookie for all its customers",
        arguments: [
            "surge.sh", "wordpress.com", "amplifyapp.com", "blob.core.windows.net", "storage.googleapis.com",
            "github.io", "vercel.app", "herokuapp.com",
        ])
    func hosts(suffix: String) throws {
        let jar = CookieJar()
        let url = try #require(URL(string: "https://evil.\(suffix)/"))
        jar.store(["a=b; Domain=\(suffix)", "own=1; Domain=evil.\(suffix)"], from: url)
        #expect(jar.cookies().map(\.name) == ["own"])
        #expect(jar.cookies(for: try #require(URL(string: "https://shop.\(suffix)/"))).isEmpty)
    }

    @Test("without a partition the app sees the cookies of every partition")
    func everyPartition() async throws {
        let jar = CookieJar()
        let url = URL(text: "https://a.example/")
        let session = StubSession { _ in .text("", headers: ["Set-Cookie": "sid=1"]) }
        let manager = NetworkManager(
            environment: .staging, session: session, exchangeInterceptors: [CookieInterceptor(jar)])
        _ = try await manager.response(for: URLEndPoint(.get, url))
        #expect(jar.cookies(for: url).map(\.name) == ["sid"])
        #expect(jar.cookies().map(\.name) == ["sid"])
        #expect(jar.cookies(for: url, in: "staging").map(\.name) == ["sid"])
        #expect(jar.cookies(for: url, in: nil).isEmpty && jar.cookies(in: "production").isEmpty)
        // A request of another partition carries none.
        _ = try await Router<URLEndPoint>(session: session, exchangeInterceptors: [CookieInterceptor(jar)])
            .response(for: URLEndPoint(.get, url))
        #expect(session.requests.allSatisfy { !$0.headers.contains("Cookie") })
        jar.remove { $0.name == "sid" }
        #expect(jar.cookies().isEmpty)
    }

    @Test("the system's list of public suffixes is used where it exists", .enabled(if: listIsThere))
    func systemSuffixes() throws {
        for suffix in ["com", "co.uk", "github.io", "s3.amazonaws.com", "kawasaki.jp"] {
            #expect(CookieJar.isPublicSuffix(suffix), "\(suffix)")
        }
        for domain in ["example.com", "bbc.co.uk", "octocat.github.io", "city.kawasaki.jp"] {
            #expect(!CookieJar.isPublicSuffix(domain), "\(domain)")
        }
        let jar = CookieJar()
        let url = try #require(URL(string: "https://mine.github.io/"))
        jar.store(["a=1; Domain=github.io", "b=2; Domain=mine.github.io"], from: url)
        #expect(jar.cookies().map(\.name) == ["b"])
    }

    @Test(
        "without a list, single labels and usual second labels are suffixes",
        arguments: [
            ("com", true), ("uk", true), ("localhost", true), ("co.uk", true), ("com.au", true), ("net.nz", true),
            ("org.br", true), ("edu.cn", true), ("gov.in", true), ("ac.jp", true), ("or.jp", true), ("ne.jp", true),
            ("go.kr", true), ("example.com", false), ("bbc.co.uk", false), ("example.de", false), ("co.com", false),
            // Suffixes that the rule does not cover.
            ("github.io", false), ("city.kawasaki.jp", false),
        ])
    func usualSuffixes(name: String, isSuffix: Bool) {
        #expect(BuiltInSuffixes.contains(name) == isSuffix)
    }

    private static var listIsThere: Bool { (try? PublicSuffixes.loaded.get()) != nil }

    @Test(
        "an address sets cookies for itself only (RFC 6265 §5.1.3)",
        arguments: [
            ("a=1; Domain=127.0.0.1", "http://127.0.0.1/", "http://127.0.0.1:8080/", 1),
            ("a=1; Domain=0.0.1", "http://127.0.0.1/", "http://127.0.0.1/", 0),
            ("a=1; Domain=0.1", "http://127.0.0.1/", "http://127.0.0.1/", 0),
            ("a=1", "http://[::1]:80/", "http://[::1]/", 1), ("a=1", "http://[::1]/", "http://[::2]/", 0),
            ("a=1; Domain=::1", "http://[::1]/", "http://[::1]/", 1),
            // The host of a URL has brackets (RFC 3986 §3.2.2).
            ("a=1; Domain=[::1]", "http://[::1]/", "http://[::1]/", 1),
            ("a=1; Domain=[::2]", "http://[::1]/", "http://[::2]/", 0),
        ])
    func addresses(field: String, from: String, to: String, count: Int) throws {
        #expect(try sent([field], from: from, to: to).count == count)
    }

    @Test(
        "a cookie without a path gets its request's folder (RFC 6265 §5.1.4)",
        arguments: [
            ("http://a.example/", "/"), ("http://a.example", "/"), ("http://a.example/b", "/"),
            ("http://a.example/b/", "/b"), ("http://a.example/b/c?d=/e/f", "/b"), ("http://a.example/b/c#/d/", "/b"),
            ("http://a.example/b%2Fc/d", "/b%2Fc"), ("http://a.example?x=/y/z", "/"),
        ])
    func defaultPaths(from: String, path: String) throws {
        _ = try sent(["a=1"], from: from, to: from)
        #expect(jar.cookies().map(\.path) == [path])
    }

    @Test("a cookie without a path gets at most 1,024 bytes of a long folder")
    func longDefaultPath() throws {
        let folder = "/" + String(repeating: "a", count: 99)
        let from = "http://a.example" + String(repeating: folder, count: 1_000) + "/b"
        #expect(try sent(["a=1"], from: from, to: from).count == 1)
        #expect(jar.cookies().map(\.path) == [String(repeating: folder, count: 10)])
        jar.remove()
        let long = "http://a.example/" + String(repeating: "a", count: 2_000) + "/b"
        #expect(try sent(["a=1"], from: long, to: long).count == 1)
        #expect(jar.cookies().map(\.path) == ["/"])
    }

    @Test(
        "Secure, SameSite=None and name prefixes follow RFC 6265bis §5.7",
        arguments: [
            ("a=1; Secure", "https", "https", 1), ("a=1; Secure", "https", "http", 0),
            ("a=1; Secure", "http", "https", 0), ("a=1", "https", "http", 1),
            ("__Secure-a=1; Secure", "https", "https", 1), ("__Secure-a=1", "https", "https", 0),
            ("__sEcUrE-a=1", "https", "https", 0), ("__Host-a=1; Secure; Path=/", "https", "https", 1),
            ("__Host-a=1; Secure", "https", "https", 0), ("__Host-a=1; Path=/", "https", "https", 0),
            ("__Host-a=1; Secure; Path=/b", "https", "https", 0),
            ("__HOST-a=1; Secure; Path=/; Domain=a.example", "https", "https", 0),
            ("a=1; SameSite=None", "https", "https", 0), ("a=1; SameSite=None", "http", "http", 0),
            ("a=1; SameSite=None; Secure", "https", "https", 1), ("a=1; SameSite=Lax", "http", "http", 1),
            // The hyphen and the combining mark form one `Character`.
            ("__Secure-\u{301}=1", "https", "https", 0), ("__Host-\u{301}=1; Secure", "https", "https", 0),
        ])
    func secure(field: String, from: String, to: String, count: Int) throws {
        #expect(try sent([field], from: "\(from)://a.example/b/c", to: "\(to)://a.example/b/c").count == count)
    }

    @Test("a cookie over plain HTTP never hides a Secure one (RFC 6265bis §5.7)")
    func secureOnesStay() throws {
        let field = "a=safe; Secure; Domain=a.example; Path=/b"
        _ = try sent([field], from: "https://x.a.example/b", to: "https://a.example/")
        _ = try sent(["a=evil; Path=/b", "b=2"], from: "http://y.a.example/", to: "http://a.example/")
        _ = try sent(["a=evil; Path=/b/c"], from: "http://a.example/", to: "http://a.example/")
        #expect(try sent(to: "https://y.a.example/b/c") == ["a=safe", "b=2"])
        // A cookie that hides no Secure one may be set.
        #expect(try sent(["a=other; Path=/"], from: "http://a.example/", to: "http://a.example/") == ["a=other"])
    }

    @Test("Max-Age wins over Expires, and both count by the jar's clock")
    func expiry() throws {
        let clock = Protected(Date(timeIntervalSince1970: 1_300_000_000))
        let jar = CookieJar { clock.value }
        let url = try #require(URL(string: "https://a.example/"))
        jar.store(
            [
                "minute=1; Max-Age=60; Expires=Fri, 07 Aug 2037 08:04:19 GMT", "gone=1; Max-Age=0",
                "kept=1; Expires=Fri, 07 Aug 2007 08:04:19 GMT; Max-Age=99999999999999999999999", "session=1",
                "dated=1; Expires=Sun, 13 Mar 2011 07:07:39 GMT",
            ], from: url)
        func names() -> [String] { jar.cookies(for: url).map(\.name) }
        #expect(names() == ["minute", "kept", "session", "dated"])
        clock.withLock { $0 += 59.5 }
        #expect(names() == ["minute", "kept", "session"])  // `date -u -d '2011-03-13 07:07:39' +%s` is 1300000059
        clock.withLock { $0 += 0.5 }
        #expect(names() == ["kept", "session"])
        #expect(jar.cookies().map(\.name) == ["kept", "session"])
        jar.store(["session=2; Expires=Fri, 07 Aug 2007 08:04:19 GMT"], from: url)
        #expect(names() == ["kept"])
    }

    // RFC 6265bis §5.5: "The limit SHOULD NOT be greater than 400 days".
    @Test(
        "a server's cookie lives at most 400 days, and an app's as long as it says",
        arguments: ["Max-Age=99999999999999999999999", "Max-Age=34560001", "Expires=Fri, 31 Dec 9999 23:59:59 GMT"])
    func longestLifetime(attribute: String) throws {
        let start = Date(timeIntervalSince1970: 1_300_000_000)
        let clock = Protected(start)
        let jar = CookieJar { clock.value }
        let url = try #require(URL(string: "https://a.example/"))
        jar.store(["long=1; \(attribute)", "exact=1; Max-Age=34560000"], from: url)
        try jar.set(StoredCookie("own", "1", domain: "a.example", expires: start + 40_000_000))
        let days: TimeInterval = 400 * 24 * 60 * 60
        #expect(jar.cookies().map(\.expires) == [start + days, start + days, start + 40_000_000])
        clock.withLock { $0 += days }
        #expect(jar.cookies().map(\.name) == ["own"])
    }

    @Test("limits by domain and in total evict the least recently used")
    func eviction() throws {
        let jar = CookieJar(maximumPerDomain: 3, maximum: 5)
        let url = try #require(URL(string: "https://a.example/x"))
        jar.store(["a=1; Path=/x", "b=1; Path=/y", "c=1; Path=/y"], from: url)
        _ = jar.cookies(for: url)  // uses a
        jar.store(["d=1; Path=/y"], from: url)
        #expect(jar.cookies().map(\.name) == ["a", "c", "d"])
        for host in ["b", "c", "d"] {
            jar.store(["\(host)=1"], from: try #require(URL(string: "https://\(host).test/")))
        }
        #expect(jar.cookies().map(\.name) == ["a", "d", "b", "c", "d"])
        #expect(jar.cookies().map(\.domain) == ["a.example", "a.example", "b.test", "c.test", "d.test"])
    }

    @Test("long names, control characters and floods of cookies are bounded")
    func hostile() throws {
        let url = try #require(URL(string: "https://a.example/"))
        let long = String(repeating: "x", count: 4_096)
        jar.store(
            ["a=\(long)", "\(long)x=", "b=1; Path=/\(long)", "c=1\u{1}", "d\n=1", "e=1\r\nX: y", "=f", "g"], from: url)
        #expect(jar.cookies().map(\.name) == ["b"])
        #expect(jar.cookies().map(\.path) == ["/"])
        jar.store((0..<10_000).map { "n\($0)=1" }, from: url)
        #expect(jar.cookies().count == 180)
        for host in 0..<30 {
            jar.store((0..<180).map { "n\($0)=1" }, from: try #require(URL(string: "https://h\(host).test/")))
        }
        #expect((2_850...3_000).contains(jar.cookies().count))
        // A host name beyond the limit of RFC 1035 §2.3.4 gets no cookie.
        let deep = try #require(URL(string: "https://" + String(repeating: "a.", count: 130) + "test/"))
        jar.store(["a=1"], from: deep)
        #expect(jar.cookies(for: deep).isEmpty)
    }

    // RFC 6265bis §5.7: a cookie replaces one "with the same name, domain, host-only-flag, and path".
    @Test("a cookie for a host alone and one for its domain are two")
    func hostOnly() throws {
        let url = "https://a.example/"
        let moved = ["sid=new; Domain=a.example; Path=/", "sid=; Max-Age=0; Path=/"]
        #expect(try sent(moved, from: url, to: url) == ["sid=new"])
        #expect(try sent(["sid=own"], from: url, to: url) == ["sid=new", "sid=own"])
        #expect(try sent(["sid=last; Domain=a.example"], from: url, to: url) == ["sid=last", "sid=own"])
        jar.remove { $0.isHostOnly }
        #expect(try sent(to: url) == ["sid=last"])
    }

    @Test("names that look alike and differ in bytes are two cookies")
    func names() throws {
        #expect(try sent(["\u{E9}=1", "e\u{301}=2"], from: "https://a.example/", to: "https://a.example/").count == 2)
    }

    @Test("a partition's cookies are not visible in another")
    func partitions() throws {
        let url = try #require(URL(string: "https://a.example/"))
        jar.store(["a=1"], from: url, in: "staging")
        jar.store(["a=2"], from: url)
        #expect(jar.cookies(for: url, in: "staging").map(\.value) == ["1"])
        #expect(jar.cookies(for: url, in: nil).map(\.value) == ["2"])
        #expect(jar.cookies(for: url, in: "production").isEmpty)
        jar.remove(in: "staging")
        #expect(jar.cookies(in: "staging").isEmpty)
        #expect(jar.cookies().count == 1)
    }

    @Test("an app sets and removes cookies; invalid ones are typed errors")
    func ownCookies() throws {
        try jar.set(StoredCookie("a", "1", domain: "A.example", includesSubdomains: true))
        try jar.set(StoredCookie("b", "2", domain: "a.example", path: "/b", isSecure: false))
        #expect(try sent(to: "https://x.a.example/") == ["a=1"])
        #expect(try sent(to: "http://a.example/b") == ["b=2"])
        jar.remove { $0.name == "a" }
        #expect(try sent(to: "https://a.example/b") == ["b=2"])
        for (name, value, domain, path) in [
            ("", "1", "a.example", "/"), ("a;b", "1", "a.example", "/"), ("a=b", "1", "a.example", "/"),
            ("a", "1;2", "a.example", "/"), ("a", "1\r\nX: y", "a.example", "/"), ("a", "1", "", "/"),
            ("a", "1;\u{301} b=2", "a.example", "/"), ("a=\u{301}b;\u{301}c", "1", "a.example", "/"),
            ("a", "1", "a.example;\u{301}", "/"), ("a", "1", "a.example", "/;\u{301}b"), ("a", "1", ".\u{301}x", "/"),
            ("a", "1", ".a.example", "/"), ("a", "1", "a.example", ""), ("a", "1", "a.example", "b"),
            ("a", String(repeating: "x", count: 4_096), "a.example", "/"),
        ] {
            let error = #expect(throws: NetworkError.self) {
                try jar.set(StoredCookie(name, value, domain: domain, path: path))
            }
            #expect(error?.code == .invalidRequest)
            #expect(error?.description.contains("1;2") == false)
        }
    }

    @Test("the error for a domain that no host has says why")
    func wrongDomains() throws {
        for (domain, reason) in [
            (".a.example", "has a domain that begins with a dot: includesSubdomains sends it to the hosts below"),
            ("localhost:8080", "has a domain with a port"), ("", "has no domain"),
        ] {
            let error = #expect(throws: NetworkError.self) { try jar.set(StoredCookie("a", "1", domain: domain)) }
            #expect(error?.reason == "the cookie \"a\" \(reason)")
        }
        try jar.set(StoredCookie("a", "1", domain: "::1"))
        #expect(try sent(to: "https://[::1]:8080/") == ["a=1"])
    }

    @Test("no description shows a cookie's value")
    func texts() throws {
        let url = try #require(URL(string: "https://a.example/"))
        jar.store(["id=hunter2; HttpOnly; SameSite=Lax"], from: url)
        let cookie = try #require(jar.cookies().first)
        #expect(cookie.isHTTPOnly)
        #expect(cookie.sameSite == .lax)
        for thing in [cookie, jar, CookieInterceptor(jar), [cookie]] as [Any] {
            var dumped = ""
            dump(thing, to: &dumped)
            for text in [dumped, String(describing: thing), String(reflecting: thing)] {
                #expect(!text.contains("hunter2"), "\(text)")
            }
        }
    }
}
