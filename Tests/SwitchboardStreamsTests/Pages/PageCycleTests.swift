import Foundation
import Switchboard
@testable import SwitchboardStreams
import SwitchboardTesting
import Testing
import SwitchboardTestSupport
@testable import Switchboard

/// Servers and routers whose pages would never end.
@Suite(.inTurn, .serialized, .timeLimit(.minutes(10)))
struct PageCycleTests {
    private let url = URL(text: "http://h")

    @Test("links of two origins to each other end before a page is repeated")
    func twoOrigins() async throws {
        let session = StubSession { request in
            request.url?.host == "a.example.com"
                ? .json("[1]", headers: link("https://b.example.com/2"))
                : .json("[2]", headers: link("https://a.example.com/list"))
        }
        let router = Router<ListApi>(session: session)
        let pages = router.pages(for: .list(URL(text: "https://a.example.com")), as: [Int].self)
        #expect(try await pages.values() == [[1], [2]])
        #expect(session.requests.count == 2)
    }

    @Test("absolute links that lead back to a URL with a user end the pages")
    func user() async throws {
        let session = StubSession { request in
            request.url?.path == "/list"
                ? .json("[1]", headers: link("https://a.example.com/b"))
                : .json("[2]", headers: link("https://a.example.com/list"))
        }
        let router = Router<ListApi>(session: session)
        let pages = try await router.pages(
            for: .list(URL(text: "https://anna:pw@a.example.com")), as: [Int].self
        ).all()
        #expect(pages.map(\.value) == [[1], [2]])
        #expect(pages.last?.next == nil)
        #expect(session.requests.count == 2)
    }

    @Test("links that lead back end before a page is repeated", arguments: SessionKind.allCases)
    func links(session: SessionKind) async throws {
        let router = Router<ListApi>(session: session.make())
        // Links to the page itself, to the first and to the second page, also with fragments.
        let cases = [
            [("/list", "/list")], [("/list", "#top")], [("/list", "?b"), ("/list?b", "/list#x")],
            [("/list", "/b"), ("/b", "/c#y"), ("/c", "/x/../b#z")],
        ]
        for steps in cases {
            let next = Dictionary(uniqueKeysWithValues: steps)
            try await MockServer.run { request in
                next[request.target].map { .json("[1]", headers: link($0)) } ?? .status(404)
            } body: { server in
                let pages = try await router.pages(for: .list(server.url), as: [Int].self).all()
                #expect(pages.count == steps.count)
                #expect(server.requests.map(\.target) == steps.map(\.0))
                #expect(pages.last?.next == nil)
            }
        }
    }

    @Test("a page that a redirect led to is not requested again")
    func redirected() async throws {
        let session = StubSession(
            .status(302, headers: ["Location": "/v2/list"]), .json("[1]", headers: link("b")),
            .json("[2]", headers: link("/v2/list")))
        let pages = Router<ListApi>(session: session).pages(for: .list(url), as: [Int].self)
        #expect(try await pages.values() == [[1], [2]])
        session.enqueue(
            .status(302, headers: ["Location": "/v2/list"]), .json("[1]", headers: link("b")),
            .json("[2]", headers: link("/list")))
        #expect(try await pages.values() == [[1], [2]])
        // Relative to the redirect's target.
        #expect(
            session.requests.map(\.path) == Array(repeating: ["/list", "/v2/list", "/v2/b"], count: 2).flatMap { $0 })
    }

    @Test("equal lists on pages with different links are separate pages")
    func equalBodiesByLink() async throws {
        let session = StubSession(.json("[1]", headers: link("?b")), .json("[1]", headers: link("?c")), .json("[1]"))
        let pages = Router<ListApi>(session: session).pages(for: .list(url), as: [Int].self)
        #expect(try await pages.values() == [[1], [1], [1]])
    }

    @Test("a page equal to the previous one ends paging by number or cursor")
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

    @Test("a repeated cursor ends the pages and is not sent")
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

    @Test("a repeated request is not sent again, whatever its number")
    func clampedNumbers() async throws {
        let session = StubSession { .json("[\($0.query ?? ""),\(UInt64.random(in: 0 ... .max))]".replacing("page=")) }
        let pages = Router<ListApi>(session: session).pages(as: [UInt64].self, from: 1, while: { _ in true }) {
            .numbered(URL(text: "http://h"), min($0, 3))
        }
        #expect(try await pages.values().map(\.first) == [1, 2, 3])
        #expect(session.requests.count == 3)
    }

    @Test("requests that differ only in body or header fields are different")
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

    // MARK: Memory

    @Test("100,000 pages of an iteration are tracked")
    func remembered() {
        let sent = SentPages()
        for number in 0..<100_000 { #expect(sent.insert(number)) }
        #expect((0..<100_000).allSatisfy { sent.contains($0) })
        #expect(!sent.insert(0))
    }
}

extension String {
    fileprivate func replacing(_ text: String) -> String { replacingOccurrences(of: text, with: "") }
}

/// The first page of a sequence.
@Suite(.timeLimit(.minutes(10)))
struct PageStartTests {
    private enum Scroll: EndPointType {
        case search(String), next(String)

        var baseURL: URL { URL(text: "http://h.test") }
        var path: String { if case .search = self { "search" } else { "scroll" } }
        var httpMethod: HTTPMethod { if case .search = self { .post } else { .get } }
        var task: HTTPTask {
            switch self {
            case .search(let text): .requestParameters(bodyParameters: ["text": text])
            case .next(let id): .requestParameters(urlParameters: ["id": id])
            }
        }
    }

    @Test("pages with a cursor may begin at another endpoint")
    func firstEndPoint() async throws {
        let session = StubSession(
            .json(#"{"page":1,"total":3,"items":[1],"next":"x"}"#),
            .json(#"{"page":2,"total":3,"items":[2],"next":"y"}"#),
            .json(#"{"page":3,"total":3,"items":[3],"next":""}"#))
        let pages = Router<Scroll>(session: session).pages(
            as: Chapter.self, next: \.next, for: { $0.map { .next($0) } ?? .search("alien") })
        #expect(try await pages.items(\.items).all() == [1, 2, 3])
        #expect(
            session.requests.map { "\($0.method) \($0.url?.absoluteString ?? "")" } == [
                "POST http://h.test/search", "GET http://h.test/scroll?id=x", "GET http://h.test/scroll?id=y",
            ])
        #expect(try session.requests.first?.body.encode() == Data(#"{"text":"alien"}"#.utf8))
    }

    @Test("pages with a cursor begin at a stored cursor")
    func storedCursor() async throws {
        let session = StubSession(.json(#"{"page":2,"total":2,"items":[2]}"#))
        let pages = Router<Scroll>(session: session).pages(as: Chapter.self, after: "x", next: \.next) {
            $0.map { .next($0) } ?? .search("alien")
        }
        #expect(try await pages.items(\.items).all() == [2])
        #expect(session.requests.map(\.url?.query) == ["id=x"])
    }
}
