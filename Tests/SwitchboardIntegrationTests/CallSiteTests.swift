import Foundation
import Switchboard
import SwitchboardCache
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

// Call sites that must compile as written. Types that the samples only name, such as
// `MoviePage` and `Todo`, are at the end. An injected session replaces each external server. Tests/Fixtures/App has the
// samples of a target that is isolated to the main actor.

private enum MovieApi { case recommended(id: Int), popular(page: Int), newMovies(page: Int), video(id: Int) }

extension MovieApi: EndPointType {
    var baseURL: URL { get throws { try Self.servers.url(in: .current) } }  // or a plain `var baseURL: URL`
    static let servers: EnvironmentURLs = [
        .production: "https://api.themoviedb.org/3/movie/", .staging: "https://staging.example.com/3/movie/",
        .qa: "https://qa.example.com/3/movie/",
    ]
    var path: String {
        switch self {
        case .recommended(let id): "\(id)/recommendations"
        case .popular: "popular"
        case .newMovies: "now_playing"
        case .video(let id): "\(id)/videos"
        }
    }
    var httpMethod: HTTPMethod { .get }
    var task: HTTPTask {
        switch self {
        case .newMovies(let page), .popular(let page):
            .requestParameters(bodyParameters: nil, urlParameters: ["page": page, "api_key": MovieKey.value])
        default: .request
        }
    }
    var headers: HTTPHeaders? { nil }
}

private struct FindTodos: TypedEndPoint { typealias Response = [Todo]; var path: String { "/todos" } }

private struct Stamp: Interceptor {
    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        var request = request
        request.headers["X-Stamp"] = "1"
        return try await next(request)
    }
}

@Suite(.timeLimit(.minutes(10)))
struct CallSiteTests {
    @Test("a router is made in one line, without a session")
    func routerInOneLine() throws {
        let router = Router<MovieApi>()
        let request = try router.makeRequest(for: .newMovies(page: 1))
        #expect(request.url?.absoluteString == "https://api.themoviedb.org/3/movie/now_playing?page=1&api_key=test")
    }

    @Test("the article's form, handles, cancel and async values compile")
    func router() async throws {
        let router = Router<MovieApi>(session: StubSession { _ in .json(#"{"page":1,"results":[]}"#) })
        let handle = router.request(.newMovies(page: 1)) { data, response, error in }
        handle.cancel()
        router.cancel()
        let page = try await router.request(.newMovies(page: 1), as: MoviePage.self)
        let same: MoviePage = try await router.request(.newMovies(page: 1))
        let response = try await router.response(for: .popular(page: 2))
        #expect(page == MoviePage(page: 1, results: []) && same == page)
        #expect(response.statusCode == 200)
        #expect(response.headers["Content-Type"] == "application/json")
        #expect(response.body == Data(#"{"page":1,"results":[]}"#.utf8))
        #expect(response.metrics.bytesReceived == 23)
    }

    @Test("a manager, its router and a change of its environment compile")
    func manager() async throws {
        let session = StubSession { _ in .json(#"{"page":1,"results":[]}"#) }
        let manager = NetworkManager(
            environment: .staging, session: session, interceptors: [NetworkLogger(), RetryPolicy()])
        let movies = manager.router(for: MovieApi.self)
        let staged = try movies.makeRequest(for: .video(id: 1)).url?.absoluteString
        #expect(staged == "https://staging.example.com/3/movie/1/videos")
        manager.environment = .production
        #expect(
            try movies.makeRequest(for: .video(id: 1)).url?.absoluteString
                == "https://api.themoviedb.org/3/movie/1/videos")
    }

    @Test("typed endpoints compile over a manager, async and with a completion")
    func typed() async throws {
        let session = StubSession { _ in .json(#"[{"id":1,"title":"Tea"}]"#) }
        let manager = NetworkManager(servers: [.production: "https://api.example.com"], session: session)
        let todos = try await manager.send(FindTodos())
        let delivered = Deliveries<[Todo]?>()
        manager.send(FindTodos()) { (result: Result<[Todo], NetworkError>) in delivered.add(try? result.get()) }
        #expect(todos == [Todo(id: 1, title: "Tea")])
        #expect(try await delivered.first() == todos)
    }

    @Test("an endpoint enum and an inferred type compile over a manager")
    func inferred() async throws {
        let session = StubSession { _ in .json(#"{"page":1,"results":[]}"#) }
        let manager = NetworkManager(session: session)
        let router = manager.router(for: MovieApi.self)
        let page = try await manager.request(MovieApi.popular(page: 1), as: MoviePage.self)
        let inferred: MoviePage = try await manager.request(MovieApi.popular(page: 1))
        let routed: MoviePage = try await router.request(.popular(page: 1))
        let fresh: MoviePage = try await router.request(.popular(page: 1), options: .refreshing)
        func pages() async throws -> [MoviePage] { [try await router.request(.popular(page: 1)), page] }
        let delivered = Deliveries<MoviePage?>()
        manager.request(MovieApi.popular(page: 1), as: MoviePage.self) { delivered.add(try? $0.get()) }
        #expect(page == inferred && routed == fresh)
        #expect(try await pages() == [page, page])
        #expect(try await delivered.first() == page)
        #expect(session.requests.count == 6)
    }

    @Test("a plain URL, a POST to it and a single exchange compile")
    func urls() async throws {
        try await MockServer.run { server in
            server.enqueue(.data(Data([1, 2, 3])), .json(#"{"id":1,"title":"Tea"}"#, statusCode: 201), .status(302))
            let (url, todo, session) = (server.url, Todo(id: 1, title: "Tea"), DefaultSession.make())
            let manager = NetworkManager(session: session)
            let avatar = try await manager.data(from: url)
            let made = try await manager.response(for: URLEndPoint(.post, url, task: .requestBody(JSONBody(todo))))
            let raw = try await session.send(NetworkRequest(.get, url))
            #expect(avatar == Data([1, 2, 3]))
            #expect(made.statusCode == 201)
            #expect(raw.statusCode == 302)
            #expect(server.requests.map(\.text) == ["", #"{"id":1,"title":"Tea"}"#, ""])
        }
    }

    @Test("a custom interceptor compiles")
    func stamp() async throws {
        let session = StubSession { _ in .text("") }
        _ = try await Router<MovieApi>(session: session, interceptors: [Stamp()]).response(for: .popular(page: 1))
        #expect(session.requests.map { $0.headers["X-Stamp"] } == ["1"])
    }

    @Test("a stub session and its recorded requests compile")
    func stub() async throws {
        let session = StubSession { request in .json(#"{"page":1,"results":[]}"#) }
        let router = Router<MovieApi>(session: session)
        _ = try await router.request(.newMovies(page: 1), as: MoviePage.self)
        #expect(session.requests.map(\.url?.query) == ["page=1&api_key=test"])
    }

    @Test("a mock server, its queue and its recorded requests compile")
    func mockServer() async throws {
        let page = #"{"page":1,"results":[]}"#
        try await MockServer.run { server in  // real loopback sockets, port 0
            server.enqueue(.status(503, headers: ["Retry-After": "1"]), .json(page), .truncated(after: 100), .stall)
            let manager = NetworkManager(session: DefaultSession.make())
            let endPoint = URLEndPoint(.get, server.url)
            let busy = await #expect(throws: NetworkError.self) { try await manager.response(for: endPoint) }
            let answer = try await manager.response(for: endPoint)
            let cut = await #expect(throws: NetworkError.self) { try await manager.response(for: endPoint) }
            #expect(busy?.headers?["Retry-After"] == "1")
            #expect(answer.text == page)
            #expect(cut?.code == .truncatedBody)
            let seen = try await server.takeRequest()  // exactly what was on the wire
            #expect(seen.head.starts(with: Data("GET / HTTP/1.1\r\n".utf8)))
        }
    }
}

private enum MovieKey { static let value = "test" }

private struct MoviePage: Codable, Equatable, Sendable {
    let page: Int
    let results: [Int]
}

private struct Todo: Codable, Equatable, Sendable {
    let id: Int
    let title: String
}
