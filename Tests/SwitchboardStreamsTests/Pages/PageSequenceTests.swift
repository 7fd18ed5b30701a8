import Foundation
import Switchboard
import SwitchboardStreams
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// Lists that a server sends page by page.
@Suite(.inTurn, .serialized, .timeLimit(.minutes(10)))
struct PagesTests {
    /// Answers a list of three pages in every kind of paging, by the page number in the request.
    private static func book(_ request: RecordedRequest) -> MockResponse {
        let number = Int(request.queryValue("page") ?? request.queryValue("cursor") ?? "1") ?? 0
        guard (1...3).contains(number) else { return .text("no page \(number)", statusCode: 404) }
        var headers: HTTPHeaders = [:]
        if number < 3 {
            let reference = number == 1 ? "?page=2" : "/list?page=3"
            headers = ["Link": "</first>; rel=first, <\(reference)>; rel=\"next last\""]
        }
        let next = number < 3 ? ",\"next\":\"\(number + 1)\"" : ""
        return .json(
            "{\"page\":\(number),\"total\":3,\"items\":[\(number * 10),\(number * 10 + 1)]\(next)}", headers: headers)
    }

    private static let wholeBook = [[10, 11], [20, 21], [30, 31]]

    // MARK: The three kinds

    @Test(
        "each page by link, number or cursor is one request, made on demand",
        arguments: SessionKind.allCases, PageKind.allCases)
    func kinds(session: SessionKind, kind: PageKind) async throws {
        try await MockServer.run(handler: Self.book) { server in
            let router = Router<ListApi>(session: session.make())
            var seen: [[Int]] = []
            var isLast: [Bool] = []
            try await kind.read(router, server.url) { items, hasNext in
                seen.append(items)
                isLast.append(!hasNext)
                #expect(server.requests.count == seen.count)
                return true
            }
            #expect(seen == Self.wholeBook)
            #expect(isLast == [false, false, true])
            #expect(server.requests.map(\.target) == kind.targets)
        }
    }

    @Test("reads items by link, number, offset and cursor")
    func callSites() async throws {
        try await MockServer.run(handler: Self.book) { server in
            let url = server.url
            let router = Router<ListApi>(session: DefaultSession.make())
            let byLink = try await router.pages(for: .list(url), as: Chapter.self).items(\.items).all()
            let byNumber = try await router.pages(as: Chapter.self, from: 1, while: { $0.page < $0.total }) {
                .numbered(url, $0)
            }.items(\.items).all()
            let byCursor = try await router.pages(as: Chapter.self, next: \.next) { .cursor(url, $0) }.items(\.items)
                .all()
            let fromNil = try await router.pages(as: Chapter.self, after: nil as String?, next: \.next) {
                .cursor(url, $0)
            }.items(\.items).all()
            for items in [byLink, byNumber, byCursor, fromNil] { #expect(items == [10, 11, 20, 21, 30, 31]) }
        }
        let session = StubSession(.json(#"{"page":1,"total":1,"items":[7]}"#))
        var seen: [Int] = []
        let paged = Router<PagedApi>(session: session)
        for try await page in paged.pages(
            as: Chapter.self, from: 1, while: { $0.page < $0.total }, for: PagedApi.popular)
        {
            seen += page.value.items
        }
        session.enqueue(.json(#"{"page":1,"total":1,"items":[8]}"#))
        for try await page in paged.pages(as: Chapter.self, next: \.next, for: { .feed(cursor: $0) }) {
            seen += page.value.items
        }
        #expect(seen == [7, 8])
        let lists = StubSession(
            .json("[1,2]"), .json("[]", headers: link("http://h/3")), .json("[3]"))
        let offsets = Router<ListApi>(session: lists)
        let items = try await offsets.pages(as: [Int].self, from: 0, by: 20, while: { $0 != [3] }) {
            .numbered(URL(text: "http://h"), $0)
        }.items().all()
        #expect(items == [1, 2, 3])
        #expect(lists.requests.map(\.query) == ["page=0", "page=20", "page=40"])
    }

    @Test("a manager's router pages over a typed endpoint")
    func typedEndPoint() async throws {
        try await MockServer.run(handler: Self.book) { server in
            let manager = NetworkManager(
                environment: .production, servers: [.production: server.url.absoluteString],
                session: DefaultSession.make())
            let pages = manager.router(for: FindChapters.self).pages(for: FindChapters())
            let items = try await pages.items(\.items).all()
            #expect(items == [10, 11, 20, 21, 30, 31])
        }
    }

    // MARK: Laziness

    @Test("leaving a loop sends no further request", arguments: SessionKind.allCases, PageKind.allCases)
    func earlyStop(session: SessionKind, kind: PageKind) async throws {
        try await MockServer.run(handler: Self.book) { server in
            let router = Router<ListApi>(session: session.make())
            _ = router.pages(for: .list(server.url), as: Chapter.self).makeAsyncIterator()
            #expect(server.requests.isEmpty)
            try await kind.read(router, server.url) { items, _ in items != [20, 21] }
            #expect(server.requests.count == 2)
            // The first item loads only the first page.
            for try await item in router.pages(for: .list(server.url), as: Chapter.self).items(\.items) {
                #expect(item == 10)
                break
            }
            #expect(server.requests.count == 3)
            let two = router.pages(for: .list(server.url), as: Chapter.self).prefix(2)
            let count = try await two.reduce(0) { sum, _ in sum + 1 }
            #expect(count == 2)
            #expect(server.requests.count == 5)
        }
    }

    @Test("each iteration starts again at the first page")
    func cold() async throws {
        try await MockServer.run(handler: Self.book) { server in
            let pages = Router<ListApi>(session: DefaultSession.make()).pages(for: .list(server.url), as: Chapter.self)
            for round in 1...2 {
                let items = try await pages.values().map(\.items)
                #expect(items == Self.wholeBook)
                #expect(server.requests.count == 3 * round)
            }
            var one = pages.makeAsyncIterator()
            var other = pages.items(\.items).makeAsyncIterator()
            let page = try await one.next()?.value.page
            #expect(page == 1)
            let item = try await other.next()
            #expect(item == 10)
            let second = try await one.next()?.value.page
            #expect(second == 2)
            #expect(server.requests.count == 9)
        }
    }

    // MARK: Tokens

    @Test("pages from a stored token are exactly the rest", arguments: SessionKind.allCases, [1, 2])
    func resume(session: SessionKind, taken: Int) async throws {
        try await MockServer.run(handler: Self.book) { server in
            let url = server.url
            let rest = Self.wholeBook.dropFirst(taken).map { $0 }
            let router = Router<ListApi>(session: session.make())
            let link = try await router.pages(for: .list(url), as: Chapter.self).token(behind: taken)
            let fromLink = router.pages(for: .list(url), as: Chapter.self, from: link)
            let byLink = try await fromLink.values().map(\.items)
            #expect(byLink == rest)
            let isFollowed: @Sendable (Chapter) -> Bool = { $0.page < 3 }
            let number = try #require(
                try await router.pages(as: Chapter.self, from: 1, while: isFollowed) { .numbered(url, $0) }
                    .token(behind: taken))
            let fromNumber = router.pages(as: Chapter.self, from: number, while: isFollowed) { .numbered(url, $0) }
            let byNumber = try await fromNumber.values().map(\.items)
            #expect(byNumber == rest)
            let cursor = try await router.pages(as: Chapter.self, next: \.next) { .cursor(url, $0) }
                .token(behind: taken)
            let fromCursor = router.pages(as: Chapter.self, after: cursor, next: \.next) { .cursor(url, $0) }
            let byCursor = try await fromCursor.values().map(\.items)
            #expect(byCursor == rest)
            #expect(link?.absoluteString == "\(url)/list?page=\(taken + 1)")
            #expect(number == taken + 1)
            #expect(cursor == "\(taken + 1)")
            #expect(server.requests.count == 9)
        }
    }

    // MARK: Errors and cancellation

    @Test(
        "an error on the third page follows two pages and is thrown once", arguments: SessionKind.allCases,
        PageFault.allCases)
    func errors(session: SessionKind, fault: PageFault) async throws {
        try await MockServer.run { server in
            let next: HTTPHeaders = link("?page=2")
            server.enqueue(
                .json("[1]", headers: next), .json("[2]", headers: link("?page=3")), fault.response)
            var pages = Router<ListApi>(session: session.make()).pages(for: .list(server.url), as: [Int].self)
                .makeAsyncIterator()
            let page = try await pages.next()?.value
            #expect(page == [1])
            let second = try await pages.next()?.value
            #expect(second == [2])
            do {
                let page = try await pages.next()
                Issue.record("\(String(describing: page))")
            } catch let error as NetworkError {
                #expect(error.code == fault.code)
                #expect(error.url?.query == "page=3")
            }
            let end = try await pages.next()
            #expect(end == nil)
            let stillEnd = try await pages.next()
            #expect(stillEnd == nil)
            #expect(server.requests.count == 3)
        }
    }

    @Test("items before an error come first, and the error is thrown once")
    func itemsBeforeError() async throws {
        let session = StubSession(.json("[1,2]", headers: link("http://h/2")), .status(500))
        var items = Router<ListApi>(session: session).pages(for: .list(URL(text: "http://h")), as: [Int].self).items()
            .makeAsyncIterator()
        #expect(try await items.next() == 1)
        #expect(try await items.next() == 2)
        do {
            _ = try await items.next()
            Issue.record("no error")
        } catch let error as NetworkError {
            #expect(error.statusCode == 500)
        }
        #expect(try await items.next() == nil)
    }

    @Test("a canceled reader gets CancellationError, and its exchange is closed", arguments: SessionKind.allCases)
    func cancelled(session: SessionKind) async throws {
        let firsts = Deliveries<[Int]>()
        try await MockServer.run { server in
            server.enqueue(.json("[1]", headers: link("?page=2")), .stall)
            let pages = Router<ListApi>(session: session.make()).pages(for: .list(server.url), as: [Int].self)
            let task = Task {
                for try await page in pages { firsts.add(page.value) }
            }
            _ = try await firsts.first()
            _ = try await server.takeRequest()
            _ = try await server.takeRequest()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            try await server.waitForDisconnect()
            #expect(server.requests.count == 2)
        }
    }

    @Test("a task canceled between two pages sends nothing more")
    func cancelledBetween() async throws {
        let session = StubSession(
            .json("[1]", headers: ["Link": "<http://h/2>; rel=\"next\""]), .json("[2]"))
        let pages = Router<ListApi>(session: session).pages(for: .list(URL(text: "http://h")), as: [Int].self)
        let task = Task {
            var pages = pages.makeAsyncIterator()
            let first = try await pages.next()?.value
            withUnsafeCurrentTask { $0?.cancel() }
            await #expect(throws: CancellationError.self) { try await pages.next() }
            let last = try await pages.next()
            #expect(last == nil)
            return first
        }
        #expect(try await task.value == [1])
        #expect(session.requests.count == 1)
    }

    private enum NumberApi: EndPointType, Equatable {
        case numbers(page: Int)

        var baseURL: String { "https://h.test/" }
        var path: String {
            switch self {
            case .numbers(let page): "numbers?page=\(page)"
            }
        }
    }

    @Test("the stub of an endpoint answers the link to its page")
    func stubbedPages() async throws {
        let session = StubSession()
        session.stub(NumberApi.numbers(page: 2), with: .json("[2]"))
        session.stub(NumberApi.numbers(page: 1), with: .json("[1]", headers: link("/numbers?page=2")))
        let pages = Router<NumberApi>(session: session).pages(for: .numbers(page: 1), as: [Int].self)
        #expect(try await pages.values() == [[1], [2]])
        session.verify()
    }

    // MARK: Empty pages

    @Test("an empty list is a page whose link is followed; a 204 is the end")
    func emptyPages() async throws {
        let url = URL(text: "http://h/list")
        let session = StubSession(
            .json("[]", headers: link("?2")), .json("[]", headers: link("?3")),
            .json("[1]", headers: link("?4")), .status(204, headers: link("?5")))
        let pages = Router<ListApi>(session: session).pages(for: .list(url), as: [Int].self)
        #expect(try await pages.values() == [[], [], [1]])
        #expect(session.requests.count == 4)
        session.enqueue(.status(204))
        #expect(try await pages.items().all() == [])
        // A 200 without a body is neither a page nor the end, but an error.
        session.enqueue(.status(200))
        let error = await #expect(throws: NetworkError.self) { try await pages.items().all() }
        #expect(error?.code == .noData)
    }

    @Test("an empty cursor, as Slack sends it, is the end")
    func emptyCursor() async throws {
        let session = StubSession(.json(#"{"page":1,"total":1,"items":[1],"next":""}"#))
        let pages = Router<ListApi>(session: session).pages(as: Chapter.self, next: \.next) {
            .cursor(URL(text: "http://h"), $0)
        }
        #expect(try await pages.all().map(\.next) == [nil])
        #expect(session.requests.count == 1)
    }

    @Test("the last number that fits is the last page")
    func overflow() async throws {
        let session = StubSession { _ in .json("[1]") }
        let pages = Router<ListApi>(session: session).pages(as: [Int].self, from: .max - 1, by: 2, while: { _ in true })
        { .numbered(URL(text: "http://h"), $0) }
        #expect(try await pages.values() == [[1]])
    }

    @Test("a page is decoded from memory, even for a download endpoint")
    func download() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("page")
            let session = StubSession { _ in .json("[1]") }
            let endPoint = URLEndPoint(.get, URL(text: "http://h"), task: .download(to: file))
            let pages = Router<URLEndPoint>(session: session).pages(for: endPoint, as: [Int].self)
            let items = try await pages.items().all()
            #expect(items == [1])
            #expect(!FileManager.default.fileExists(atPath: file.path))
        }
    }
}
