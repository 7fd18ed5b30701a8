@testable import Films
import Foundation
import Switchboard
import SwitchboardTesting
import Testing

struct StubTests {
    @Test("a case is stubbed and verified")
    func verified() async throws {
        let session = StubSession()
        let films = session.stubs(for: FilmApi.self)
        films.stub(.popular(page: 1), times: 1, with: .json(#"{"page": 1, "results": [{"id": 7, "title": "Seven"}]}"#))
        let rating = films.stub(.rate(id: 7, stars: 5), with: .status(201))

        let router = Router<FilmApi>(session: session)
        let page = try await router.request(.popular(page: 1), as: FilmPage.self)
        _ = try await router.response(for: .rate(id: page.results[0].id, stars: 5))

        #expect(page.results.map(\.title) == ["Seven"])
        #expect(rating.requests.map(\.text) == [#"{"value":5}"#])
        session.verify()
    }

    @Test("an unmatched request is compared with the nearest stub")
    func unmatched() async throws {
        let session = StubSession()
        session.stub(FilmApi.popular(page: 1), with: .status(200))
        let error = await #expect(throws: NetworkError.self) {
            try await Router<FilmApi>(session: session).response(for: .popular(page: 2))
        }
        #expect(error?.code == .unmatchedRequest)
        #expect(error?.reason?.contains(#"query page is "2", not "1""#) == true)
    }

    @Test(.enabled(if: ProcessInfo.processInfo.environment["FILMS_FAIL"] != nil))
    func failsOnPurpose() {
        let session = StubSession()
        session.stub(.get("/never"), with: .status(200))
        session.verify()  // Swift Testing reports this line
    }
}
