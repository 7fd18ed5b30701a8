import Foundation
import Switchboard
import SwitchboardPlatform
import Testing
@testable import Switchboard
import SwitchboardTestSupport
@testable import SwitchboardCookies

/// The order in which a domain's cookies are evicted: RFC 6265bis §5.7.
@Suite(.timeLimit(.minutes(10)))
struct CookieEvictionTests {
    private let now = Date(timeIntervalSince1970: 1_300_000_000)
    private let http = URL(text: "http://a.example/")
    private let https = URL(text: "https://a.example/")

    private func names(_ jar: CookieJar) -> Set<String> { Set(jar.cookies().map(\.name)) }

    @Test("180 cookies over http leave a Secure cookie of their domain in the jar")
    func secureStays() {
        let jar = CookieJar(now: { [now] in now }) { !$0.contains(".") }
        jar.store(["id=1; Secure"], from: https)
        jar.store((0..<180).map { "n\($0)=1" }, from: http)
        #expect(jar.cookies().count == 180)
        #expect(names(jar).contains("id"))
        #expect(!names(jar).contains("n0"))
        #expect(names(jar).contains("n179"))
    }

    @Test("among Secure cookies only, the least recently used is evicted")
    func secureOnes() {
        let jar = CookieJar(now: { [now] in now }) { !$0.contains(".") }
        jar.store((0..<180).map { "s\($0)=1; Secure; Path=/\($0)" }, from: https)
        _ = jar.cookies(for: URL(text: "https://a.example/0"))
        jar.store(["new=1; Secure"], from: https)
        #expect(jar.cookies().count == 180)
        #expect(names(jar).isSuperset(of: ["s0", "s2", "new"]))
        #expect(!names(jar).contains("s1"))
    }

    @Test("one site's cookies evict none of another site")
    func sites() throws {
        let jar = CookieJar(now: { [now] in now }) { !$0.contains(".") }
        for host in 0..<20 {
            let url = try #require(URL(string: "https://bank\(host).example\(host)/"))
            jar.store(["id=1; Secure", "theme=1"], from: url)
        }
        // 100 hosts of one site, and each cookie newer than those of the others.
        for host in 0..<100 {
            let url = try #require(URL(string: "https://h\(host).evil.example/"))
            jar.store((0..<180).map { "n\($0)=1; Secure" }, from: url)
        }
        let others = jar.cookies().filter { !$0.domain.hasSuffix("evil.example") }
        #expect(jar.cookies().count <= 3_000)
        #expect(others.count == 40)
    }

    @Test("within the fullest site, Secure and recently used cookies stay")
    func fullestSite() throws {
        let jar = CookieJar(maximumPerDomain: 100, maximum: 100, now: { [now] in now }) { !$0.contains(".") }
        jar.store(["id=1; Secure"], from: URL(text: "https://a.evil.example/"))
        jar.store(["other=1"], from: URL(text: "https://b.example2/"))
        for host in 0..<3 {
            let url = try #require(URL(string: "https://h\(host).evil.example/"))
            jar.store((0..<50).map { "n\($0)=1" }, from: url)
        }
        #expect(names(jar).isSuperset(of: ["id", "other", "n49"]))
    }

    @Test("a site is the name below a public suffix")
    func siteNames() {
        let jar = CookieJar(now: { [now] in now }) { ["example", "co.example"].contains($0) }
        #expect(jar.site("a.b.shop.co.example") == "shop.co.example")
        #expect(jar.site("a.shop.example") == "shop.example")
        #expect(jar.site("shop.example") == "shop.example")
        #expect(jar.site("127.0.0.1") == "127.0.0.1")
        #expect(jar.site(String(repeating: "a.", count: 120) + "shop.example") == "shop.example")
    }
}

/// The work that a response causes, counted in cookies inspected one by one.
@Suite(.timeLimit(.minutes(10)))
struct CookieWorkTests {
    private let now = Date(timeIntervalSince1970: 1_300_000_000)

    /// 256 KiB of fields with the shortest distinct cookies.
    private static let flood: [String] = {
        var fields: [String] = []
        var size = 0
        while size < 256 << 10 {
            fields.append("\(String(fields.count, radix: 36))=")
            size += "Set-Cookie: ".utf8.count + (fields.last?.utf8.count ?? 0) + 2
        }
        return fields
    }()

    /// Returns a full jar of Secure cookies whose names are also in the flood.
    private func fullJar() throws -> CookieJar {
        let jar = CookieJar(now: { [now] in now }) { !$0.contains(".") }
        for host in 0..<30 {
            let url = try #require(URL(string: "https://h\(host).a.example/"))
            jar.store(Self.flood.prefix(100).map { $0 + "; Secure" }, from: url)
        }
        #expect(jar.cookies().count == 3_000)
        return jar
    }

    private func examinedCount(_ jar: CookieJar) -> Int { jar.state.withLock { $0.stores[nil]?.examinedCount ?? 0 } }

    @Test("256 KiB of Set-Cookie inspect each stored cookie at most twice", arguments: ["http", "https"])
    func flood(scheme: String) throws {
        #expect(Self.flood.count > 10_000)
        let jar = try fullJar()
        let before = examinedCount(jar)
        jar.store(Self.flood, from: try #require(URL(string: "\(scheme)://x.b.example/")))
        #expect(examinedCount(jar) - before <= 2 * 3_000)
        let own = jar.cookies().filter { $0.domain == "x.b.example" }
        #expect(own.count <= 180 && own.first?.name == "0")
    }

    @Test("256 KiB of Set-Cookie for a wide domain compare only equal names")
    func wide() throws {
        let jar = try fullJar()
        let before = examinedCount(jar)
        let fields = Self.flood.map { $0 + "; Domain=a.example" }
        jar.store(fields, from: try #require(URL(string: "http://x.a.example/")))
        // The jar is read once for Secure cookies, thirty of which share a field's name, and once to make room.
        #expect(examinedCount(jar) - before <= 3_000 + 180 * 30 + 3_180)
    }

    @Test("a request inspects only the cookies of its domains")
    func request() throws {
        let jar = try fullJar()
        let before = examinedCount(jar)
        #expect(jar.cookies(for: try #require(URL(string: "https://h3.a.example/"))).count == 100)
        #expect(examinedCount(jar) - before == 100)
    }
}
