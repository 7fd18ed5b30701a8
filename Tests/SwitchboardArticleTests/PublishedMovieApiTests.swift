import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// The fourth design's published `MovieApi` and `NetworkManager`, run on this package.
@Suite(.timeLimit(.minutes(10)))
struct PublishedMovieApiTests {
    @Test("the published MovieApi compiles unchanged and makes its requests", .requirement("S3.1"))
    func requests() throws {
        let router = NetworkManager().router
        let asked = try [MovieApi.newMovies(page: 1), .popular(page: 1), .recommended(id: 5), .video(id: 5)].map {
            endPoint in
            let request = try router.makeRequest(for: endPoint)
            return "\(request.method) \(request.url?.absoluteString ?? "")"
        }
        #expect(
            asked == [
                "GET https://api.themoviedb.org/3/movie/now_playing?page=1&api_key=YOUR_API_KEY",
                "GET https://api.themoviedb.org/3/movie/popular",
                "GET https://api.themoviedb.org/3/movie/5/recommendations",
                "GET https://api.themoviedb.org/3/movie/5/videos",
            ])
    }

    @Test("the published getNewMovies passes on the decoded films", .requirement("S3.12"))
    func movies() async throws {
        let json = """
            {"page":1,"total_results":1,"total_pages":1,"results":[{"id":348,"title":"Alien","poster_path":null,
             "backdrop_path":null,"release_date":"1979-05-25","vote_average":8.1,"overview":"In space."}]}
            """
        let session = StubSession { _ in .json(json) }
        let (movies, error) = await newMovies(session)
        #expect(movies?.map(\.title) == ["Alien"])
        #expect(movies?.map(\.rating) == [8.1])
        #expect(error == nil)
        #expect(session.requests.map(\.url?.query) == ["page=1&api_key=YOUR_API_KEY"])
    }

    @Test(
        "the published manager shows its message for each outcome", .requirement("S3.11", "S3.13"),
        arguments: [
            (MockResponse.status(401), "You need to be authenticated first."),
            (.status(404), "You need to be authenticated first."),
            (.status(500), "You need to be authenticated first."), (.status(503), "Bad request"),
            (.status(600), "The url you requested is outdated."), (.status(400), "Network request failed."),
            (.json("{"), "We could not decode the response."), (.close, "Please check your network connection."),
            (.failure(.noInternetConnection), "Please check your network connection."),
        ])
    func messages(response: MockResponse, message: String) async throws {
        let (movies, error) = await newMovies(StubSession { _ in response })
        #expect(movies == nil)
        #expect(error == message)
    }

    private func newMovies(_ session: StubSession) async -> ([Movie]?, String?) {
        await withCheckedContinuation { continuation in
            NetworkManager(router: Router(session: session)).getNewMovies(page: 1) {
                continuation.resume(returning: ($0, $1))
            }
        }
    }
}
