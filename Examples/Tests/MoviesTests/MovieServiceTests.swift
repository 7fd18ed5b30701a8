import ExampleKit
import Foundation
import Switchboard
import SwitchboardTesting
import Testing

@testable import Movies

/// The example's service over a stub session: its requests, and its values and errors.
@Suite(.timeLimit(.minutes(10)))
struct MovieServiceTests {
    private let session = StubSession()
    private var server: EndPointStubs<MovieApi> { session.stubs(for: MovieApi.self) }
    private var service: MovieService { MovieService(router: Router(session: session)) }

    /// Returns a page in TheMovieDB's JSON.
    private func page(_ number: Int = 1, of total: Int = 1, _ titles: String...) -> MockResponse {
        let movies = titles.enumerated().map { index, title in
            #"{"id": \#(index), "title": "\#(title)", "vote_average": 7.5, "poster_path": null}"#
        }
        return .json(
            """
            {"page": \(number), "results": [\(movies.joined(separator: ", "))], "total_pages": \(total),
             "total_results": \(titles.count)}
            """)
    }

    @Test func newMoviesAreAskedForByPage() async throws {
        server.stub(.newMovies(page: 2), times: .once, with: page(2, of: 3, "Alien", "Brazil"))

        let found = try await service.newMovies(page: 2)

        #expect(found.movies.map(\.title) == ["Alien", "Brazil"])
        session.verify()
    }

    @Test func everyRequestBringsTheKey() async throws {
        session.stub(.get("/3/movie/popular").query("api_key", "k3y"), with: page())

        _ = try await MovieBackend.$current.withValue(.live(key: "k3y")) { try await service.popular(page: 1) }

        session.verify()
    }

    @Test func recommendationsBelongToTheMovie() async throws {
        let seven = server.stub(.recommended(id: 7), with: page(1, of: 1, "Seven too"))
        let eight = server.stub(.recommended(id: 8), times: .never, with: page())

        #expect(try await service.recommended(after: 7).movies.map(\.title) == ["Seven too"])

        #expect(seven.count == 1)
        #expect(eight.count == 0)
    }

    @Test func aPageBehindTheLastIsRefusedWithTheLast() async throws {
        server.stub(.popular(page: 9), with: page(9, of: 3))

        await #expect(throws: Failure(.refused, "there is no page 9: the last page is 3")) {
            try await service.popular(page: 9)
        }
    }

    @Test func aPageThatTheServerRefusesIsFoundOutByTheFirst() async throws {
        let invalid = MockResponse.json(#"{"status_code": 22, "status_message": "Invalid page"}"#, statusCode: 400)
        let far = server.stub(.popular(page: 501), with: invalid)
        let first = server.stub(.popular(page: 1), with: page(1, of: 40, "Alien"))

        await #expect(throws: Failure(.refused, "there is no page 501: the last page is 40")) {
            try await service.popular(page: 501)
        }

        session.verify(order: far, first)
    }

    @Test func aWrongKeyIsSaidInTheServersWords() async throws {
        let refusal = #"{"status_code": 7, "status_message": "Invalid API key: You must be granted a valid key."}"#
        session.stub(.any, with: .json(refusal, statusCode: 401))

        let error = await #expect(throws: NetworkError.self) { try await service.videos(of: 1) }

        #expect(error?.code == .unauthorized)
        #expect(error.map { Failure($0).message } == "Invalid API key: You must be granted a valid key.")
    }

    @Test(arguments: MockFault.all.filter { $0.code != nil && !$0.needsBody })
    func whateverTheServerDoesIsOneLineAndAnExitCode(fault: MockFault) async throws {
        try await MockServer.run { server in
            server.enqueue(fault.response.repeated())
            let (exit, shown, noted) = await movies(
                "--server \(server.url) popular",
                timeouts: Timeouts(attempt: .seconds(fault.code == .timedOut ? 1 : 20)))
            #expect(exit == .unavailable || exit == .badData)
            #expect(shown.isEmpty)
            #expect(noted.split(separator: "\n").count == 1)
        }
    }
}
