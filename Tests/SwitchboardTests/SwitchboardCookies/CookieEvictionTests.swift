import Foundation
import Switchboard
import Testing

@testable import SwitchboardCookies

/// The order in which a domain's cookies are evicted: RFC 6265bis §5.7.
@Suite(.timeLimit(.minutes(3)))
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
}
