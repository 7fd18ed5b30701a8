@testable import Films
import Foundation
import Switchboard
import SwitchboardTesting
import Testing

/// The server that the cassette was recorded from. In an app this is the network.
private let network = StubSession { request in
    .json(#"{"page": 1, "results": [{"id": 7, "title": "Seven"}]}"#, headers: ["Set-Cookie": "sid=s3cr3t-cookie"])
}

struct CassetteTests {
    private struct Login: Interceptor {
        func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
            var request = request
            request.headers["Authorization"] = "Bearer s3cr3t-t0ken"
            return try await next(request)
        }
    }

    // Recorded with SWITCHBOARD_CASSETTES=record swift test.
    @Test("recorded films are played", .cassette("popular films", recording: network))
    func popularFilms() async throws {
        let router = Router<FilmApi>(session: try Cassette.current, interceptors: [Login()])
        let page = try await router.request(.popular(page: 1), as: FilmPage.self)
        #expect(page.results.map(\.title) == ["Seven"])
    }

    @Test("a recording contains no secret")
    func secrets() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let file = try String(contentsOf: folder.appendingPathComponent("Cassettes/popular films.har"), encoding: .utf8)
        #expect(file.contains("Seven"))
        #expect(!file.contains("s3cr3t"))
    }

    @Test("a request that was not recorded is refused, with the difference")
    func difference() async throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Cassettes/popular films.har")
        let cassette = try Cassette(file: file, mode: .replay)
        let error = await #expect(throws: NetworkError.self) {
            try await Router<FilmApi>(session: cassette).response(for: .popular(page: 2))
        }
        #expect(error?.code == .unmatchedRequest)
        #expect(error?.reason?.contains("page") == true)
        #expect(!cassette.faults.isEmpty)
    }
}
