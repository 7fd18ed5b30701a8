import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// The movie API of the fourth design, against a server with responses like TheMovieDB's.
@Suite(.timeLimit(.minutes(10)))
struct MovieServerTests {
    @Test("all four endpoints send their documented request and decode", .requirement("S3.15"))
    func allFour() async throws {
        try await MockServer.run(handler: MovieServer.answer) { server in
            try await TestMovies.$server.withValue(server.url.appendingPathComponent("3/movie/")) {
                let router = Router<TestMovies>(session: DefaultSession.make())
                let new = try await router.request(.newMovies(page: 2), as: MovieServer.Page.self)
                #expect(new.page == 2)
                #expect(new.movies.map(\.title) == ["Alien"])
                let popular = try await router.request(.popular(page: 3), as: MovieServer.Page.self)
                #expect(popular.page == 3)
                let recommended = try await router.request(.recommended(id: 348), as: MovieServer.Page.self)
                #expect(recommended.movies.map(\.id) == [348])
                let videos = try await router.request(.video(id: 348), as: MovieServer.Videos.self)
                #expect(videos == MovieServer.Videos(id: 348, results: [.init(key: "jQ5lPt9edzQ", site: "YouTube")]))
            }
            #expect(
                server.requests.map { "\($0.method) \($0.target)" } == [
                    "GET /3/movie/now_playing?page=2&api_key=test", "GET /3/movie/popular?page=3&api_key=test",
                    "GET /3/movie/348/recommendations?api_key=test", "GET /3/movie/348/videos?api_key=test",
                ])
            #expect(server.requests.allSatisfy { $0.body.isEmpty && $0.headers["Content-Type"] == nil })
        }
    }

    @Test("TheMovieDB's errors keep their message, for a 401 and a 404", .requirement("S3.15", "S3.11"))
    func errors() async throws {
        try await MockServer.run(handler: MovieServer.answer) { server in
            let router = Router<TestMovies>(session: DefaultSession.make())
            try await TestMovies.$server.withValue(server.url.appendingPathComponent("3/movie")) {
                let missing = await #expect(throws: NetworkError.self) {
                    try await router.request(.video(id: 0), as: MovieServer.Videos.self)
                }
                #expect(missing?.code == .notFound)
                #expect(missing?.serverMessage == "The resource you requested could not be found.")
                #expect(missing?.endPointName == "TestMovies.video")
                try await TestMovies.$key.withValue("wrong") {
                    let refused = await #expect(throws: NetworkError.self) {
                        try await router.request(.popular(page: 1), as: MovieServer.Page.self)
                    }
                    #expect(refused?.code == .unauthorized)
                    #expect(refused?.message == "Sign in first (401)")
                    #expect(refused?.serverMessage?.hasPrefix("Invalid API key") == true)
                    #expect(refused?.description.contains("wrong") == false)
                    _ = try await server.takeRequest()
                }
            }
        }
    }

    @Test("the article's JSON decodes, with null and missing paths tolerated", .requirement("S3.12"))
    func articleJSON() async throws {
        let page = try await decode(MovieServer.article)
        #expect(page.page == 1)
        #expect(page.numberOfResults == 1_122)
        #expect(page.numberOfPages == 57)
        #expect(page.movies.map(\.id) == [181_808, 354_912, 1])
        #expect(page.movies.map(\.title) == ["Star Wars: The Last Jedi", "Coco", "Untitled"])
        #expect(page.movies.map(\.rating) == [7.2, 7.7, 0])
        #expect(page.movies.map(\.releaseDate) == ["2017-12-13", "2017-10-27", ""])
        #expect(page.movies.map(\.posterPath) == ["/xGWVjewoXnJhvxKW619cMzppJDQ.jpg", nil, nil])
        #expect(page.movies.map(\.backdrop) == ["/5Iw7zQTHVRBOYpA0V6z0yypOPZh.jpg", nil, nil])
    }

    @Test(
        "a decoding error has the key path, and an empty page is no data",
        .requirement("S3.12"),
        arguments: [
            (#"{"page":1,"total_results":1,"total_pages":1,"results":[{"id":"x"}]}"#, "results[0].id"),
            (#"{"page":1,"total_results":1,"results":[]}"#, "total_pages"),
            (#"{"page":1,"total_results":"many","total_pages":1,"results":[]}"#, "total_results"),
        ])
    func undecodable(json: String, keyPath: String) async throws {
        let error = await #expect(throws: NetworkError.self) { try await decode(json) }
        #expect(error?.message == "We could not decode the response.")
        #expect(error?.reason?.hasPrefix(keyPath + ":") == true)
        let empty = await #expect(throws: NetworkError.self) { try await decode("") }
        #expect(empty?.message == "Response returned with no data to decode.")
    }

    private func decode(_ json: String) async throws -> MovieServer.Page {
        let router = Router<TestMovies>(session: StubSession { _ in .json(json) })
        return try await TestMovies.$server.withValue(URL(text: "https://api.themoviedb.org/3/movie/")) {
            try await router.request(.newMovies(page: 1), as: MovieServer.Page.self)
        }
    }
}

private enum TestMovies: EndPointType {
    case recommended(id: Int)
    case popular(page: Int)
    case newMovies(page: Int)
    case video(id: Int)

    @TaskLocal static var server: URL?
    @TaskLocal static var key = "test"

    var baseURL: URL? { Self.server }
    var path: String {
        switch self {
        case .recommended(let id): "\(id)/recommendations"
        case .popular: "popular"
        case .newMovies: "now_playing"
        case .video(let id): "\(id)/videos"
        }
    }
    var task: HTTPTask {
        switch self {
        case .newMovies(let page), .popular(let page):
            .requestParameters(bodyParameters: nil, urlParameters: ["page": page, "api_key": Self.key])
        case .recommended, .video: .requestParameters(urlParameters: ["api_key": Self.key])
        }
    }
}
