import Foundation
import SwitchboardTesting
import Testing

@testable import Switchboard
@testable import SwitchboardPaging

/// Servers and routers that would go on for ever.
@Suite(.inTurn, .serialized, .timeLimit(.minutes(3)))
struct PageCycleTests {
    private let url = URL(text: "http://h")

    private func link(_ reference: String) -> HTTPHeaders { ["Link": "<\(reference)>; rel=next"] }

    @Test("links that lead back end before the page that was there already [paging]", arguments: SessionKind.allCases)
    func links(session: SessionKind) async throws {
        let router = Router<ListApi>(session: session.make())
        // To itself, to the first page, to the second, each with a fragment too.
        let cases = [
            [("/list", "/list")], [("/list", "#top")], [("/list", "?b"), ("/list?b", "/list#x")],
            [("/list", "/b"), ("/b", "/c#y"), ("/c", "/x/../b#z")],
        ]
        for steps in cases {
            let next = Dictionary(uniqueKeysWithValues: steps)
            try await MockServer.run { request in
                next[request.target].map { .json("[1]", headers: link($0)) } ?? .status(404)
            } body: { server in
                let pages = try await router.pages(of: .list(server.url), as: [Int].self).all()
                #expect(pages.count == steps.count)
                #expect(server.requests.map(\.target) == steps.map(\.0))
                #expect(pages.last?.next == nil)
            }
        }
    }

    @Test("a page that a redirect led to is not asked for again [paging]")
    func redirected() async throws {
        let session = StubSession(
            .status(302, headers: ["Location": "/v2/list"]), .json("[1]", headers: link("b")),
            .json("[2]", headers: link("/v2/list")))
        let pages = Router<ListApi>(session: session).pages(of: .list(url), as: [Int].self)
        #expect(try await pages.values() == [[1], [2]])
        session.enqueue(
            .status(302, headers: ["Location": "/v2/list"]), .json("[1]", headers: link("b")),
            .json("[2]", headers: link("/list")))
        #expect(try await pages.values() == [[1], [2]])
        // Relative to where the redirect led.
        #expect(
            session.requests.map(\.path) == Array(repeating: ["/list", "/v2/list", "/v2/b"], count: 2).flatMap { $0 })
    }

    @Test("lists that are equal on two pages are two pages by Link [paging]")
    func equalBodiesByLink() async throws {
        let session = StubSession(.json("[1]", headers: link("?b")), .json("[1]", headers: link("?c")), .json("[1]"))
        let pages = Router<ListApi>(session: session).pages(of: .list(url), as: [Int].self)
        #expect(try await pages.values() == [[1], [1], [1]])
    }

    @Test("the same bytes as on the page before are that page again by number and cursor [paging]")
    func equalBodies() async throws {
        let chapter = #"{"page":1,"total":9,"items":[1],"next":"#
        let ignoring = StubSession { _ in .json(chapter + "null}") }
        let numbered = Router<ListApi>(session: ignoring).pages(
            as: Chapter.self, from: 1, while: { $0.page < $0.total }
        ) { .numbered(URL(text: "http://h"), $0) }
        #expect(try await numbered.values().count == 1)
        #expect(ignoring.requests.count == 2)

        let session = StubSession { _ in .json("[1]", headers: ["X-Next": UUID().uuidString]) }
        let byCursor = Router<ListApi>(session: session).pages(as: [Int].self, next: { $1.headers["X-Next"] }) {
            .cursor(URL(text: "http://h"), $0)
        }
        #expect(try await byCursor.values() == [[1]])
        #expect(session.requests.count == 2)
    }

    @Test("a cursor that came before ends the pages, and is not sent [paging]")
    func cursors() async throws {
        let next = ["a": "b", "b": "c", "c": "a"]
        let session = StubSession { request in
            let cursor = request.query.map { String($0.dropFirst("cursor=".count)) }
            let number = cursor.map { $0.utf8.first.map(Int.init) ?? 0 } ?? 0
            let follows = cursor.flatMap { next[$0] } ?? "a"
            return .json("{\"page\":\(number),\"total\":0,\"items\":[],\"next\":\"\(follows)\"}")
        }
        let pages = Router<ListApi>(session: session).pages(as: Chapter.self, next: \.next) {
            .cursor(URL(text: "http://h"), $0)
        }
        #expect(try await pages.all().map(\.next) == ["a", "b", "c", nil])
        #expect(session.requests.map(\.query) == [nil, "cursor=a", "cursor=b", "cursor=c"])
    }

    @Test("a request that was sent already is not sent again, whatever its number was [paging]")
    func clampedNumbers() async throws {
        let session = StubSession { .json("[\($0.query ?? ""),\(UInt64.random(in: 0 ... .max))]".replacing("page=")) }
        let pages = Router<ListApi>(session: session).pages(as: [UInt64].self, from: 1, while: { _ in true }) {
            .numbered(URL(text: "http://h"), min($0, 3))
        }
        #expect(try await pages.values().map(\.first) == [1, 2, 3])
        #expect(session.requests.count == 3)
    }

    @Test("requests that differ in body or header fields alone are different ones [paging]")
    func requestsWithoutURL() async throws {
        let session = StubSession { request in
            let sent = try request.body.encode()
            let page = sent.last { (UInt8(ascii: "1")...UInt8(ascii: "3")).contains($0) }.map { Int($0) - 48 }
            let number = page ?? request.headers["X-Cursor"].flatMap(Int.init) ?? 1
            let headers: HTTPHeaders = number < 3 ? ["X-Next": "\(number + 1)"] : [:]
            return .json("[\(number)]", headers: headers)
        }
        let router = Router<ListApi>(session: session)
        let url = url
        let searched = router.pages(as: [Int].self, from: 1, while: { $0 != [3] }) { .search(url, $0) }
        #expect(try await searched.values() == [[1], [2], [3]])
        let byHeader = router.pages(as: [Int].self, next: { $1.headers["X-Next"] }) { .headerCursor(url, $0) }
        #expect(try await byHeader.values() == [[1], [2], [3]])
        #expect(Set(session.requests.map(\.url)).count == 1)
        // The same search three times is one page.
        let same = router.pages(as: [Int].self, from: 1, while: { _ in true }) { _ in .search(url, 1) }
        #expect(try await same.values() == [[1]])
        #expect(session.requests.count == 7)
    }

    // MARK: Routers that cannot change a request

    @Test("a fake that answers the same for ever ends after a page, of each kind [paging]")
    func constantFake() async throws {
        let router = CannedRouter([.json(#"{"page":1,"total":9,"items":[1],"next":"x"}"#, next: "http://h/2")])
        let url = url
        let byLink = router.pages(of: .list(url), as: Chapter.self)
        #expect(try await byLink.values().count == 1)
        let numbered = router.pages(as: Chapter.self, from: 1, while: { _ in true }) { .numbered(url, $0) }
        #expect(try await numbered.values().count == 1)
        let byCursor = router.pages(as: Chapter.self, next: \.next) { .cursor(url, $0) }
        #expect(try await byCursor.values().count == 1)
        #expect(router.count == 6)
    }

    @Test("a fake with an answer for each page gives each of them; one that goes in circles ends [paging]")
    func cannedFake() async throws {
        let three = CannedRouter([
            .json("[1]", next: "http://h/2"), .json("[2]", next: "http://h/3"), .json("[3]"),
        ])
        #expect(try await three.pages(of: .list(url), as: [Int].self).values() == [[1], [2], [3]])
        let circle = CannedRouter((1...50).map { .json("[\($0)]", next: "http://h/\($0 % 2)") })
        #expect(try await circle.pages(of: .list(url), as: [Int].self).values() == [[1], [2], [3]])
        let cursors = CannedRouter(
            (1...50).map { .json("{\"page\":\($0),\"total\":0,\"items\":[],\"next\":\"\($0 % 2)\"}") })
        let pages = cursors.pages(as: Chapter.self, next: \.next) { [url] in .cursor(url, $0) }
        #expect(try await pages.values().map(\.page) == [1, 2, 3])
    }

    // MARK: Memory

    @Test("every page of an iteration is remembered [paging]")
    func remembered() {
        let trail = PageTrail()
        for number in 0..<100_000 { #expect(trail.insert(number)) }
        #expect((0..<100_000).allSatisfy { trail.contains($0) })
        #expect(!trail.insert(0))
    }
}

extension String {
    fileprivate func replacing(_ text: String) -> String { replacingOccurrences(of: text, with: "") }
}
