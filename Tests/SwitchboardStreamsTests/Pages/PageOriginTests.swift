import Foundation
import Switchboard
import SwitchboardStreams
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// The URLs that links may lead to, and the header fields that are sent there.
@Suite(.inTurn, .serialized, .timeLimit(.minutes(10)))
struct PageOriginTests {
    private let secrets: HTTPHeaders = [
        "Authorization": "Bearer t", "Cookie": "id=1", "Proxy-Authorization": "Basic cDpw", "X-Api-Key": "k",
        "X-Mine": "1",
    ]

    @Test("header fields go to no other origin, and not to pages linked from it", arguments: SessionKind.allCases)
    func secretsOverTheWire(session: SessionKind) async throws {
        try await MockServer.run { first in
            try await MockServer.run { other in
                first.enqueue(
                    .json("[1]", headers: link("?b")), .json("[2]", headers: link("\(other.url)/c")), .json("[5]"))
                other.enqueue(.json("[3]", headers: link("/d")), .json("[4]", headers: link("\(first.url)/e")))
                let pages = Router<ListApi>(session: session.make()).pages(
                    for: .list(first.url, secrets), as: [Int].self)
                let values = try await pages.values()
                #expect(values == [[1], [2], [3], [4], [5]])
                #expect(first.requests.map(\.target) == ["/list", "/list?b", "/e"])
                #expect(other.requests.map(\.target) == ["/c", "/d"])
                let names = ["Authorization", "Cookie", "Proxy-Authorization", "X-Api-Key"]
                for request in first.requests.prefix(2) {
                    for name in names { #expect(request.headers[name] == secrets[name], "\(name)") }
                }
                for request in other.requests + first.requests.suffix(1) {
                    for name in names { #expect(request.headers[name] == nil, "\(name)") }
                    #expect(request.headers["X-Mine"] == nil)
                }
            }
        }
    }

    @Test("a token of another origin gets no secret header fields")
    func secretsOfToken() async throws {
        let session = StubSession { _ in .json("[1]") }
        let pages = Router<ListApi>(session: session).pages(
            for: .list(URL(text: "https://a.example.com"), secrets), as: [Int].self,
            from: URL(text: "https://b.example.com/list?page=7"))
        #expect(try await pages.values() == [[1]])
        #expect(session.requests.map(\.headers) == [["Accept": "application/json"]])
        #expect(session.requests.first?.url?.absoluteString == "https://b.example.com/list?page=7")
    }

    @Test("a link from a redirect's target to the origin gets no secrets")
    func redirectLedAway() async throws {
        for way in [["https://evil.example/"], ["https://evil.example/", "https://a.example.com/own"]] {
            let session = StubSession { _ in .json("[2]") }
            for target in way { session.enqueue(.redirect(to: target, statusCode: 307)) }
            session.enqueue(.json("[1]", headers: link("https://a.example.com/account/close")))
            let router = Router<ListApi>(session: session, interceptors: [BearerAuth("t")])
            let pages = router.pages(for: .list(URL(text: "https://a.example.com"), ["X-Session": "s"]), as: [Int].self)
            #expect(try await pages.values() == [[1], [2]])
            let last = try #require(session.requests.last)
            #expect(last.url?.absoluteString == "https://a.example.com/account/close")
            #expect(last.headers == ["Accept": "application/json"])
            #expect(session.requests.first?.headers["Authorization"] == "Bearer t")
        }
    }

    @Test("a link keeps the user of the URL, unless another origin chose it")
    func user() async throws {
        let linking = MockResponse.json("[1]", headers: link("https://a.example.com/b"))
        let session = StubSession(
            linking, .json("[2]"), .redirect(to: "https://evil.example/", statusCode: 307), linking, .json("[2]"))
        let pages = Router<ListApi>(session: session).pages(
            for: .list(URL(text: "https://anna:pw@a.example.com")), as: [Int].self)
        for _ in 1...2 {
            let values = try await pages.values()
            #expect(values == [[1], [2]])
        }
        #expect(session.requests.map(\.url?.user) == ["anna", "anna", "anna", nil, nil])
    }

    @Test("a stored token that came through another origin gets no secrets")
    func storedToken() async throws {
        for way in ["https://evil.example/2", "https://a.example.com/own"] {
            let session = StubSession(
                .redirect(to: "https://evil.example/", statusCode: 307), .json("[1]", headers: link(way)))
            if way.contains("evil") {
                session.enqueue(.json("[2]", headers: link("https://a.example.com/account/close")))
            } else {
                session.enqueue(.json("[2]", headers: link("/account/close")))
            }
            session.enqueue(.json("[3]"))
            let router = Router<ListApi>(session: session, interceptors: [BearerAuth("t")])
            let api = ListApi.list(URL(text: "https://a.example.com"))
            let stored = try await router.pages(for: api, as: [Int].self).token(behind: 2)
            #expect(try await router.pages(for: api, as: [Int].self, from: stored).values() == [[3]])
            let last = try #require(session.requests.last)
            #expect(last.url?.absoluteString == "https://a.example.com/account/close")
            #expect(last.headers["Authorization"] == nil)
        }
    }

    @Test(
        "a link to plain http or another scheme is an error after its page",
        arguments: [
            "http://a.example.com/2", "http://b.example.com/", "HTTP://a.example.com/2", "ftp://a.example.com/2",
            "file:///etc/passwd", "mailto:a@example.com", "javascript:alert(1)", "https:///2",
            "https://a.example.com:99999/",
        ])
    func refused(reference: String) async throws {
        let session = StubSession(.json("[1]", headers: link(reference)), .json("[2]"))
        var pages = Router<ListApi>(session: session).pages(
            for: .list(URL(text: "https://a.example.com")), as: [Int].self
        ).makeAsyncIterator()
        let first = try await pages.next()
        #expect(first?.value == [1])
        #expect(first?.next != nil)
        do {
            _ = try await pages.next()
            Issue.record("it was followed")
        } catch let error as NetworkError {
            #expect(error.code == .redirectRefused)
        }
        #expect(try await pages.next() == nil)
        #expect(session.requests.count == 1)
    }

    @Test("http after https is refused, and https after http is followed")
    func downgradeLater() async throws {
        let session = StubSession(
            .json("[1]", headers: link("https://b.example.com/2")),
            .json("[2]", headers: link("http://a.example.com/3")), .json("[3]"))
        var pages = Router<ListApi>(session: session).pages(
            for: .list(URL(text: "http://a.example.com")), as: [Int].self
        ).makeAsyncIterator()
        #expect(try await pages.next()?.value == [1])
        #expect(try await pages.next()?.value == [2])
        await #expect(throws: NetworkError.self) { try await pages.next() }
        #expect(session.requests.count == 2)
    }

    @Test("a next page that is not a URL is an error without secrets")
    func noURL() async throws {
        let session = StubSession(.json("[1]", headers: link("http://[x/?token=hunter2")))
        let pages = Router<ListApi>(session: session).pages(for: .list(URL(text: "http://h")), as: [Int].self)
        let error = await #expect(throws: NetworkError.self) { try await pages.values() }
        #expect(error?.code == .invalidResponse)
        #expect(error?.description.contains("http://[x/") == true)
        #expect(error?.description.contains("hunter2") == false)
    }

    @Test("links keep method, body and fields; a used one-shot body is refused")
    func bodies() async throws {
        let session = StubSession(.json("[1]", headers: link("?b")), .json("[2]"))
        let pages = Router<ListApi>(session: session).pages(for: .search(URL(text: "http://h"), 1), as: [Int].self)
        #expect(try await pages.values() == [[1], [2]])
        #expect(session.recordedRequests.map(\.method) == [.post, .post])
        #expect(session.recordedRequests.map(\.text) == [#"{"page":1}"#, #"{"page":1}"#])

        let opened = Deliveries<Int>()
        let body = StreamBody(isReplayable: false) {
            opened.add(1)
            return HTTPBodyStream { nil }
        }
        session.enqueue(.json("[1]", headers: link("?b")))
        let endPoint = URLEndPoint(.post, URL(text: "http://h"), task: .requestBody(body))
        let once = Router<URLEndPoint>(session: session).pages(for: endPoint, as: [Int].self)
        let error = await #expect(throws: NetworkError.self) { try await once.values() }
        #expect(error?.code == .redirectRefused)
        #expect(opened.all.count == 1)
        #expect(session.requests.count == 3)
    }
}
