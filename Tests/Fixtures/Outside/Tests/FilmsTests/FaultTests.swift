@testable import Films
import Foundation
import Switchboard
import SwitchboardTesting
import Testing

struct FaultTests {
    /// Returns the text of a screen for a server that may fail in any way.
    private func titles(from url: URL) async -> String {
        let router = Router<URLEndPoint>()
        let options = RequestOptions { $0.timeouts.total = .seconds(2) }
        do {
            let endPoint = URLEndPoint(.get, url, options: options)
            return try await router.request(endPoint, as: FilmPage.self).results.map(\.title).joined(separator: ", ")
        } catch is NetworkError {
            return "offline"
        } catch {
            return "cancelled"
        }
    }

    @Test(arguments: MockFault.all.filter { !$0.needsBody })
    func theScreenBearsEveryFault(fault: MockFault) async throws {
        try await MockServer.run { server in
            server.enqueue(fault.response)
            #expect(await titles(from: server.url) == "offline")
        }
    }

    @Test("a call is retried until the server is back")
    func retried() async throws {
        let clock = TestClock(skips: true)
        let page = FilmPage(page: 1, results: [Film(id: 7, title: "Seven")])
        let session = StubSession(.status(503, headers: ["Retry-After": "20"]), .close, try .encoding(page))
        let router = Router<FilmApi>(session: session, interceptors: [RetryPolicy(jitter: nil, clock: clock)])
        #expect(try await router.request(.popular(page: 1), as: FilmPage.self) == page)
        #expect(clock.sleeps == [.seconds(20), .seconds(1)])
    }
}
