import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct RequestOptionTests {
    private let url = URL(text: "https://api.example.com/a")

    @Test("an option has its default until it is set; copies are independent", .requirement("S2.14"))
    func defaults() {
        var request = NetworkRequest(.get, url)
        #expect(request[Priority.self] == 5)
        request[Priority.self] = 1
        var copy = request
        copy[Priority.self] = 9
        #expect(request[Priority.self] == 1)
        #expect(copy[Priority.self] == 9)
        #expect(copy[Label.self] == nil)
    }

    @Test("options of router and endpoint are merged, and the endpoint's win", .requirement("S2.14"))
    func merging() async throws {
        let session = StubSession { _ in .text("") }
        let routerOptions = RequestOptions {
            $0[Priority.self] = 2
            $0[Label.self] = "router"
        }
        let router = Router<URLEndPoint>(session: session, options: routerOptions)
        _ = try await router.response(for: URLEndPoint(.get, url, options: RequestOptions { $0[Priority.self] = 3 }))
        _ = try await router.response(for: URLEndPoint(.get, url))
        #expect(session.requests.map { $0[Priority.self] } == [3, 2])
        #expect(session.requests.map { $0[Label.self] } == ["router", "router"])
    }

    @Test("options are merged if set directly, by a closure, or after it", .requirement("S2.14"))
    func directValues() {
        var own = RequestOptions()
        own[Priority.self] = 1
        own[Label.self] = "own"
        var other = RequestOptions { $0[Priority.self] += 10 }
        other[Label.self] = "after"
        let merged = own.merging(other)
        #expect(merged[Priority.self] == 11 && merged[Label.self] == "after")
        var direct = RequestOptions()
        direct[Label.self] = "direct"
        let twice = merged.merging(direct)
        #expect(twice[Priority.self] == 11 && twice[Label.self] == "direct")
        let again = own.merging(twice)
        #expect(again[Priority.self] == 11 && again[Label.self] == "direct")
    }

    @Test("a closure also changes the options that it is merged into")
    func conditionalChange() {
        var own = RequestOptions()
        own.timeouts.total = .seconds(10)
        let doubled = RequestOptions { options in
            if let total = options.timeouts.total { options.timeouts.total = total * 2 }
        }
        #expect(own.merging(doubled).timeouts.total == .seconds(20))
    }

    @Test("merged closures change the options of a router, and keep the rest")
    func mergedClosures() {
        var router = RequestOptions()
        router.timeouts.idle = .seconds(7)
        router.limits.responseHeaders = 99
        router[Label.self] = "router"
        var direct = RequestOptions()
        direct[Label.self] = "direct"
        let total = RequestOptions { $0.timeouts.total = .seconds(5) }
        let size = RequestOptions { $0.limits.responseBody = 10 }
        for own in [total.merging(size).merging(direct), direct.merging(total.merging(size))] {
            for merged in [router.merging(own), RequestOptions().merging(router).merging(own)] {
                #expect(merged.timeouts == Timeouts(idle: .seconds(7), total: .seconds(5)))
                #expect(merged.limits == ResponseLimits(responseBody: 10, responseHeaders: 99))
                #expect(merged[Label.self] == "direct")
            }
        }
    }

    @Test("a value that is set after a closure replaces the earlier one, which is released")
    func replacedValue() {
        var options = RequestOptions { $0[Label.self] = "closure" }
        weak var first: Box?
        do {
            let box = Box()
            first = box
            options[Boxed.self] = box
        }
        #expect(first != nil)
        options[Boxed.self] = Box()
        #expect(first == nil)
    }

    @Test("options survive retries and redirects", .requirement("S2.14"))
    func survival() async throws {
        let session = StubSession(
            .status(503), .status(302, headers: ["Location": "https://elsewhere.example.com/b"]), .status(503),
            .text("done"))
        let retries = RetryPolicy(clock: TestClock(skips: true))
        let router = Router<URLEndPoint>(session: session, interceptors: [RedirectInterceptor(), retries])
        let endPoint = URLEndPoint(.get, url, options: RequestOptions { $0[Label.self] = "kept" })
        #expect(try await router.request(endPoint, as: String.self) == "done")
        #expect(session.requests.map { $0[Label.self] } == ["kept", "kept", "kept", "kept"])
    }
}

private enum Priority: RequestOption { static let defaultValue = 5 }
private enum Label: RequestOption { static let defaultValue: String? = nil }
private final class Box: Sendable {}
private enum Boxed: RequestOption { static let defaultValue: Box? = nil }
