import Foundation
import SwitchboardPlatform
import Testing

@testable import Switchboard
@testable import SwitchboardCookies

/// The work that a response causes, counted in cookies inspected one by one.
@Suite(.timeLimit(.minutes(3)))
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

    private func looks(_ jar: CookieJar) -> Int { jar.state.withLock { $0.stores[nil]?.looks ?? 0 } }

    @Test("256 KiB of Set-Cookie inspect each stored cookie at most twice", arguments: ["http", "https"])
    func flood(scheme: String) throws {
        #expect(Self.flood.count > 10_000)
        let jar = try fullJar()
        let before = looks(jar)
        jar.store(Self.flood, from: try #require(URL(string: "\(scheme)://x.b.example/")))
        #expect(looks(jar) - before <= 2 * 3_000)
        let own = jar.cookies().filter { $0.domain == "x.b.example" }
        #expect(own.count <= 180 && own.first?.name == "0")
    }

    @Test("256 KiB of Set-Cookie for a wide domain compare only equal names")
    func wide() throws {
        let jar = try fullJar()
        let before = looks(jar)
        let fields = Self.flood.map { $0 + "; Domain=a.example" }
        jar.store(fields, from: try #require(URL(string: "http://x.a.example/")))
        // The jar is read once for Secure cookies, thirty of which share a field's name, and once to make room.
        #expect(looks(jar) - before <= 3_000 + 180 * 30 + 3_180)
    }

    @Test("a request inspects only the cookies of its domains")
    func request() throws {
        let jar = try fullJar()
        let before = looks(jar)
        #expect(jar.cookies(for: try #require(URL(string: "https://h3.a.example/"))).count == 100)
        #expect(looks(jar) - before == 100)
    }
}
