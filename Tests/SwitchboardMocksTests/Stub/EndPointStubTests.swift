import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// Stubs for the cases of an API.
@Suite(.timeLimit(.minutes(10)))
struct EndPointStubTests {
    @Test("answers one endpoint case only, whatever interceptors add", .requirement("S4.11", "S3.16"))
    func cases() async throws {
        let session = StubSession()
        let films = session.stubs(for: FilmApi.self)
        films.stub(.popular(page: 1), with: .text("one"))
        films.stub(.popular(page: 12), with: .text("twelve"))
        films.stub(.rate(id: 1, stars: 5), with: .status(201))
        session.stub(FilmApi.search("a&b"), with: .text("found"))
        let router = Router<FilmApi>(session: session, interceptors: [AddsToken()])
        #expect(try await router.response(for: .popular(page: 12)).text == "twelve")
        #expect(try await router.response(for: .popular(page: 1)).text == "one")
        #expect(try await router.response(for: .search("a&b")).text == "found")
        #expect(try await router.response(for: .rate(id: 1, stars: 5)).statusCode == 201)
        for other in [FilmApi.popular(page: 2), .search("a"), .film(id: 1), .rate(id: 1, stars: 4)] {
            let error = await #expect(throws: NetworkError.self) { try await router.response(for: other) }
            #expect(error?.code == .unmatchedRequest)
        }
    }

    @Test(
        "an unmatched case names the value that differs",
        arguments: [
            (FilmApi.popular(page: 2), #"query page is "2", not "1""#),
            (
                .film(id: 9),
                "the path is /3/film/9; there is no query item page; there is no query item api_key"
            ),
            (
                .rate(id: 1, stars: 4),
                "the path is /3/film/1/rating; the method is POST; there is no query item page; "
                    + #"there is no query item api_key; the body is {"value":4}, not empty"#
            ),
        ])
    func difference(asked: FilmApi, words: String) async throws {
        let session = StubSession()
        session.stub(FilmApi.popular(page: 1), with: .text("one"))
        let error = await #expect(throws: NetworkError.self) {
            try await Router<FilmApi>(session: session).response(for: asked)
        }
        #expect(error?.reason?.hasSuffix(words) == true, "\(error?.reason ?? "")")
        #expect(error?.reason?.contains("nearest: FilmApi.popular (GET popular?page=1&api_key=<redacted>)") == true)
    }

    @Test("an endpoint's stub answers in every environment")
    func environments() async throws {
        let session = StubSession()
        session.stub(FilmApi.popular(page: 1), with: .text("one"))
        let manager = NetworkManager(environment: .staging, session: session)
        let router = manager.router(for: FilmApi.self)
        #expect(try await router.response(for: .popular(page: 1)).text == "one")
        manager.environment = .production
        #expect(try await router.response(for: .popular(page: 1)).text == "one")
        #expect(session.requests.compactMap { $0.url?.host } == ["staging.example.com", "api.example.com"])
    }

    @Test("a redirect to another path is another request")
    func redirect() async throws {
        let session = StubSession()
        session.stub(.get("/moved"), with: .text("here"))
        session.stub(FilmApi.film(id: 1), times: 1, with: .redirect(to: "/moved", statusCode: 301))
        #expect(try await Router<FilmApi>(session: session).response(for: .film(id: 1)).text == "here")
        session.verify()
    }

    @Test("the stub of an endpoint answers a redirect to it, not one from it")
    func redirectToEndPoint() async throws {
        let session = StubSession()
        session.stub(FilmApi.film(id: 2), with: .text("second film"))
        session.stub(FilmApi.film(id: 1), with: .redirect(to: "/3/film/2"))
        session.stub(FilmApi.popular(page: 2), with: .text("second page"))
        session.stub(FilmApi.popular(page: 1), with: .redirect(to: "/3/popular?page=2&api_key=s3cret"))
        session.stub(.get("film/1/rating"), with: .text("rating"))
        session.stub(FilmApi.rate(id: 1, stars: 5), with: .redirect(to: "/3/film/1/rating", statusCode: 303))
        let http = try #require(URL(string: "http://a.example/film"))
        let https = try #require(URL(string: "https://a.example/film"))
        session.stub(URLEndPoint(.get, https), with: .text("secure"))
        session.stub(URLEndPoint(.get, http), with: .redirect(to: https.absoluteString))
        let router = Router<FilmApi>(session: session)
        #expect(try await router.response(for: .film(id: 1)).text == "second film")
        #expect(try await router.response(for: .popular(page: 1)).text == "second page")
        #expect(try await router.response(for: .rate(id: 1, stars: 5)).text == "rating")
        let urls = Router<URLEndPoint>(session: session)
        #expect(try await urls.response(for: URLEndPoint(.get, http)).text == "secure")
        session.verify()
    }

    @Test("a request without endpoint matches by method, path, query and body")
    func withoutEndPoint() async throws {
        let session = StubSession()
        session.stub(FilmApi.rate(id: 1, stars: 5), with: .status(201))
        let url = URL(string: "http://h.test/x/film/1/rating")
        let right = NetworkRequest(.post, url, body: JSONBody(["value": 5]))
        #expect(try await session.send(right).statusCode == 201)
        let wrong = NetworkRequest(.post, url, body: JSONBody(["value": 4]))
        let error = await #expect(throws: NetworkError.self) { try await session.send(wrong) }
        #expect(error?.reason?.contains(#"the body is {"value":4}"#) == true)
        try await MockServer.run { server in
            server.stub(FilmApi.rate(id: 1, stars: 5), with: .status(202))
            let there = NetworkRequest(.post, server.url.appendingPathComponent("film/1/rating"), body: right.body)
            #expect(try await DefaultSession.make().send(there).statusCode == 202)
            var other = there
            other.body = wrong.body
            let refused = try await DefaultSession.make().send(other)
            #expect(refused.statusCode == 404)
            #expect(refused.text.contains(#"the body is {"value":4}"#))
            #expect(server.faults.count == 1)
        }
    }

    private struct File: EndPointType {
        let baseURL = URL(string: "https://api.example.com")
        let path: String
    }

    @Test("a star in an endpoint's path is literal, and no body matches no body")
    func exactEndPoint() async throws {
        let session = StubSession()
        session.stub(File(path: "file/*"), with: .text("star"))
        for path in ["file/*", "file/%2A"] {
            let request = NetworkRequest(.get, URL(string: "http://h.test/x/" + path))
            #expect(try await session.send(request).text == "star")
        }
        let other = NetworkRequest(.get, URL(string: "http://h.test/x/file/other"))
        await #expect(throws: NetworkError.self) { try await session.send(other) }
        let withBody = NetworkRequest(.get, URL(string: "http://h.test/x/file/*"), body: JSONBody([1]))
        await #expect(throws: NetworkError.self) { try await session.send(withBody) }
    }

    @Test("an endpoint of another type does not match")
    func otherType() async throws {
        let session = StubSession()
        session.stub(FilmApi.film(id: 1), with: .text("film"))
        let url = try #require(URL(string: "https://api.example.com/3/film/1"))
        let error = await #expect(throws: NetworkError.self) {
            try await Router<URLEndPoint>(session: session).response(for: URLEndPoint(.get, url))
        }
        #expect(error?.reason?.contains("the endpoint is a URLEndPoint") == true)
    }

    private enum RootApi: EndPointType, Equatable {
        case root, me(token: String)

        var baseURL: String { "https://h.test/v1" }
        var path: String { self == .root ? "" : "me" }
        var headers: HTTPHeaders? {
            if case .me(let token) = self { ["X-Session": token] } else { nil }
        }
    }

    @Test("an empty path matches the base URL only")
    func emptyPath() async throws {
        let session = StubSession()
        session.stub(RootApi.root, with: .text("root"))
        let router = Router<RootApi>(session: session)
        #expect(try await router.response(for: .root).text == "root")
        await #expect(throws: NetworkError.self) { try await router.response(for: .me(token: "a")) }
    }

    @Test("the stub of a URLEndPoint answers its own URL only")
    func wholeURLs() async throws {
        let session = StubSession()
        let one = try #require(URL(string: "https://a.example/films/1?lang=de"))
        let two = try #require(URL(string: "https://b.example/films/1?lang=de"))
        session.stub(URLEndPoint(.get, one), with: .text("one"))
        session.stub(URLEndPoint(.get, two), with: .text("two"))
        let router = Router<URLEndPoint>(session: session, interceptors: [AddsToken()])
        #expect(try await router.response(for: URLEndPoint(.get, one)).text == "one")
        #expect(try await router.response(for: URLEndPoint(.get, two)).text == "two")
        #expect(try await session.send(NetworkRequest(.get, one)).text == "one")
        let manager = NetworkManager(session: session)
        #expect(try await manager.data(from: two) == Data("two".utf8))
        for (other, words) in [
            ("https://a.example/films/2?lang=de", "the URL is https://a.example/films/2?lang=de"),
            ("https://a.example/v1/films/1?lang=de", "the URL is https://a.example/v1/films/1?lang=de"),
            ("http://a.example/films/1?lang=de", "the URL is http://a.example/films/1?lang=de"),
            ("https://a.example:8443/films/1?lang=de", "the URL is https://a.example:8443/films/1?lang=de"),
            ("https://a.example/films/1?lang=fr", #"query lang is "fr", not "de""#),
            ("https://a.example/films/1", "there is no query item lang"),
        ] {
            let url = try #require(URL(string: other))
            let session = StubSession()
            session.stub(URLEndPoint(.get, one), with: .text("one"))
            let routed = try RequestBuilder().makeRequest(for: URLEndPoint(.get, url))
            for request in [NetworkRequest(.get, url), routed] {
                let error = await #expect(throws: NetworkError.self) { try await session.send(request) }
                let nearest = "URLEndPoint (GET https://a.example/films/1?lang=de): \(words)"
                #expect(error?.reason?.contains(nearest) == true, "\(error?.reason ?? "")")
            }
        }
        try await MockServer.run { server in
            let url = server.url.appendingPathComponent("films")
            server.stub(URLEndPoint(.get, url), with: .text("here"))
            let manager = NetworkManager(session: DefaultSession.make())
            let here = try await manager.data(from: url)
            #expect(here == Data("here".utf8))
            let other = url.appendingPathComponent("1")
            #expect(await failure { try await manager.data(from: other) } == .notFound)
            #expect(server.faults.count == 1)
        }
    }

    @Test("a list in the query matches only the same list")
    func lists() async throws {
        enum ListApi: EndPointType {
            case films([Int])
            var baseURL: String { "https://api.example.com" }
            var path: String {
                switch self {
                case .films(let ids): "films?" + ids.map { "id=\($0)" }.joined(separator: "&")
                }
            }
        }
        let session = StubSession()
        session.stub(ListApi.films([1]), with: .text("one"))
        session.stub(ListApi.films([2, 3]), with: .text("two"))
        let router = Router<ListApi>(session: session)
        #expect(try await router.response(for: .films([1])).text == "one")
        #expect(try await router.response(for: .films([2, 3])).text == "two")
        for (ids, words) in [
            ([1, 2], #"(GET films?id=1): query id is "1" and "2", not "1""#),
            ([1, 1], #"(GET films?id=1): query id is "1" and "1", not "1""#),
            ([3, 2], #"(GET films?id=2&id=3): query id is "3" and "2", not "2" and "3""#),
        ] {
            let error = await #expect(throws: NetworkError.self) { try await router.response(for: .films(ids)) }
            #expect(error?.reason?.contains(words) == true, "\(error?.reason ?? "")")
        }
    }

    @Test("unequal endpoints do not match")
    func unequalEndPoints() async throws {
        let session = StubSession()
        session.stub(RootApi.me(token: "a"), with: .text("A"))
        session.stub(RootApi.me(token: "b"), with: .text("B"))
        let router = Router<RootApi>(session: session)
        #expect(try await router.response(for: .me(token: "a")).text == "A")
        #expect(try await router.response(for: .me(token: "b")).text == "B")
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: .me(token: "c")) }
        #expect(error?.reason?.contains("nearest: RootApi.me (GET me): the endpoint is not equal") == true)
    }

    /// Writes all parameters into the query, after the items of the path.
    private struct QueryEncoder: ParameterEncoder {
        func encode(_ parameters: Parameters, into request: inout NetworkRequest) throws {
            request.query =
                (request.query.map { $0 + "&" } ?? "") + "q="
                + String(decoding: try JSONBody(parameters).encode(), as: UTF8.self)
        }
    }

    private enum NoteApi: EndPointType {
        case found(Int), add(String, RequestOptions)

        var baseURL: String { "https://h.test/v1?key=a" }
        var httpMethod: HTTPMethod {
            switch self {
            case .found: .get
            case .add: .post
            }
        }
        var path: String { "notes?by=me" }
        var task: HTTPTask {
            switch self {
            case .found(let page):
                .requestParameters(
                    bodyParameters: ["page": page], bodyEncoding: .custom(QueryEncoder()), urlParameters: ["n": 1])
            case .add(let text, _): .requestBody(JSONBody(["noteText": text] as [String: String]))
            }
        }
        var options: RequestOptions {
            switch self {
            case .found: RequestOptions()
            case .add(_, let options): options
            }
        }
    }

    @Test("an endpoint whose query an encoder of the app writes matches its stub only")
    func customQuery() async throws {
        let session = StubSession()
        session.stub(NoteApi.found(1), with: .text("one"))
        session.stub(NoteApi.found(2), with: .text("two"))
        let router = Router<NoteApi>(session: session)
        #expect(try await router.response(for: .found(2)).text == "two")
        #expect(try await router.response(for: .found(1)).text == "one")
        #expect(session.requests.last?.query == "key=a&by=me&q=%7B%22page%22:1%7D&n=1")
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: .found(3)) }
        #expect(
            error?.reason?.contains(#"query q is "{"page":3}", not "{"page":1}""#) == true, "\(error?.reason ?? "")")
    }

    /// A body that counts how often it is encoded.
    private struct CountedBody: HTTPBody {
        static let count = Protected(0)
        let additionalHeaders: HTTPHeaders = [:]

        func encode() throws -> Data {
            Self.count.withLock { $0 += 1 }
            return Data("body".utf8)
        }
    }

    private enum CountedApi: EndPointType, Equatable {
        case send

        var baseURL: String { "https://h.test" }
        var path: String { "send" }
        var httpMethod: HTTPMethod { .post }
        var task: HTTPTask { .requestBody(CountedBody()) }
    }

    @Test("stubs of other types do not encode the body of a request")
    func encodings() async throws {
        let session = StubSession()
        session.stub(CountedApi.send, with: .text("sent"))
        for number in 0..<50 { session.stub(RootApi.me(token: "\(number)"), with: .text("me")) }
        let before = CountedBody.count.value
        #expect(try await Router<CountedApi>(session: session).response(for: .send).text == "sent")
        #expect((1..<10).contains(CountedBody.count.value - before))
    }

    @Test("an endpoint whose options change its body matches its stub only", arguments: [true, false])
    func bodyOptions(compresses: Bool) async throws {
        let options = RequestOptions {
            $0.compressesBody = compresses
            let encoder = JSONEncoder()
            encoder.keyEncodingStrategy = .convertToSnakeCase
            if !compresses { $0.encoder = encoder }
        }
        let session = StubSession()
        session.stub(NoteApi.add("a", options), with: .text("A"))
        session.stub(NoteApi.add("b", options), with: .text("B"))
        let router = Router<NoteApi>(session: session)
        #expect(try await router.response(for: .add("b", options)).text == "B")
        #expect(try await router.response(for: .add("a", options)).text == "A")
        await #expect(throws: NetworkError.self) { try await router.response(for: .add("c", options)) }
    }
}
