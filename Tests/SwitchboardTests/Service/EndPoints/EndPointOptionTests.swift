import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct EndPointOptionTests {
    private let url = URL(text: "https://api.example.com/a")

    @Test("an endpoint's timeouts and cache policy win over the router's", .requirement("S3.10"))
    func options() throws {
        let routerOptions = RequestOptions {
            $0.timeouts.idle = .seconds(10)
            $0.cachePolicy = .reloadIgnoringLocalAndRemoteCacheData
        }
        let router = Router<URLEndPoint>(session: StubSession(), options: routerOptions)
        let plain = try router.makeRequest(for: URLEndPoint(.get, url))
        #expect(plain.timeouts.idle == .seconds(10))
        #expect(plain.headers["Cache-Control"] == "no-cache")

        let endPointOptions = RequestOptions {
            $0.timeouts = Timeouts(idle: .milliseconds(1_500))
            $0.cachePolicy = .returnCacheDataDontLoad
        }
        let own = try router.makeRequest(for: URLEndPoint(.get, url, options: endPointOptions))
        #expect(own.timeouts.idle == .milliseconds(1_500))
        #expect(own.headers["Cache-Control"] == "only-if-cached")
    }

    @Test("Cache-Control wins over the cache policy", .requirement("S3.10"))
    func presets() throws {
        let options = RequestOptions { $0.cachePolicy = .reloadIgnoringLocalAndRemoteCacheData }
        let endPoint = URLEndPoint(.get, url, headers: ["Cache-Control": "max-age=60"], options: options)
        let request = try Router<URLEndPoint>(session: StubSession()).makeRequest(for: endPoint)
        #expect(request.headers.values(for: "Cache-Control") == ["max-age=60"])
    }

    @Test("a router uses only its injected session", .requirement("S3.16", "S3.10"))
    func session() async throws {
        let one = StubSession { _ in .text("one") }
        let other = StubSession { _ in .text("other") }
        let endPoint = URLEndPoint(.get, url)
        #expect(try await Router<URLEndPoint>(session: one).request(endPoint, as: String.self) == "one")
        #expect(try await Router<URLEndPoint>(session: other).request(endPoint, as: String.self) == "other")
        #expect(one.requests.count == 1)
        #expect(other.requests.count == 1)
    }
}
