import Foundation
import SwitchboardPlatform
import Testing

@testable import Switchboard
@testable import SwitchboardCookies

/// How much work a response makes, counted in cookies that were looked at one by one.
@Suite(.timeLimit(.minutes(1)))
struct CookieWorkTests {
    private let now = Date(timeIntervalSince1970: 1_300_000_000)

    /// 256 KiB of fields, each the shortest that is a cookie of its own.
    private static let flood: [String] = {
        var fields: [String] = []
        var size = 0
        while size < 256 << 10 {
            fields.append("\(String(fields.count, radix: 36))=")
            size += "Set-Cookie: ".utf8.count + (fields.last?.utf8.count ?? 0) + 2
        }
        return fields
    }()

    /// A jar that is full, of the names that are also in the flood, and secure.
    private func fullJar() throws -> CookieJar {
        let jar = CookieJar(now: { [now] in now }) { !$0.contains(".") }
        for host in 0..<30 {
            let url = try #require(URL(string: "https://h\(host).a.example/"))
            jar.store(Self.flood.prefix(100).map { $0 + "; Secure" }, from: url)
        }
        #expect(jar.cookies().count == 3_000)
        return jar
    }

    private func looks(_ jar: CookieJar) -> Int { jar.state.withLock { $0.shelves[nil]?.looks ?? 0 } }

    @Test(
        "256 KiB of Set-Cookie look at each stored cookie twice at most",
        arguments: ["http", "https"])
    func flood(scheme: String) throws {
        #expect(Self.flood.count > 10_000)
        let jar = try fullJar()
        let before = looks(jar)
        jar.store(Self.flood, from: try #require(URL(string: "\(scheme)://x.a.example/")))
        #expect(looks(jar) - before <= 2 * 3_000)
        let own = jar.cookies().filter { $0.domain == "x.a.example" }
        #expect(own.count <= 180 && own.first?.name == "0")
    }

    @Test("256 KiB of Set-Cookie for a wide domain compare equal names alone")
    func wide() throws {
        let jar = try fullJar()
        let before = looks(jar)
        let fields = Self.flood.map { $0 + "; Domain=a.example" }
        jar.store(fields, from: try #require(URL(string: "http://x.a.example/")))
        // The jar once for the secure ones, of which thirty have the name of a field, and once to make room.
        #expect(looks(jar) - before <= 3_000 + 180 * 30 + 3_180)
    }

    @Test("a request looks at the cookies of its own domains alone")
    func request() throws {
        let jar = try fullJar()
        let before = looks(jar)
        #expect(jar.cookies(for: try #require(URL(string: "https://h3.a.example/"))).count == 100)
        #expect(looks(jar) - before == 100)
    }
}
