import Foundation
import Switchboard
import SwitchboardTestSupport
import Testing

/// Statuses, challenges, redirects and timeouts against an independent server.
@Suite(.needsHTTPBin, .inTurn, .serialized, .timeLimit(.minutes(10)))
struct HTTPBinBehaviourTests {
    private func router(_ kind: SessionKind) -> Router<URLEndPoint> {
        Router(session: kind.make())
    }

    @Test(
        "/basic-auth fails with 401 unless credentials are sent [httpbin]", .requirement("S2.20"),
        arguments: SessionKind.allCases)
    func basicAuthentication(kind: SessionKind) async throws {
        let router = router(kind)
        let url = try HTTPBin.url("/basic-auth/user/pass")
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: URLEndPoint(.get, url)) }
        #expect(error?.code == .unauthorized)
        #expect(error?.statusCode == 401)
        #expect(error?.headers?["WWW-Authenticate"]?.hasPrefix("Basic") == true)
        // base64("user:pass"), by another program
        let allowed = URLEndPoint(.get, url, headers: ["Authorization": "Basic dXNlcjpwYXNz"])
        #expect(try await router.response(for: allowed).statusCode == 200)
    }

    @Test(
        "redirects keep credentials only within the origin [httpbin]",
        arguments: SessionKind.allCases)
    func redirectsAndSecrets(kind: SessionKind) async throws {
        let router = router(kind)
        let other = try #require(HTTPBin.other)
        let secrets: HTTPHeaders = ["Authorization": "Bearer planted", "Cookie": "planted=1", "X-Plain": "kept"]
        for (target, keeps) in [(other + "/anything", false), (try HTTPBin.url("/anything").absoluteString, true)] {
            let task = HTTPTask.requestParameters(urlParameters: ["url": target])
            let endPoint = URLEndPoint(.get, try HTTPBin.url("/redirect-to"), task: task, headers: secrets)
            let seen = try await router.request(endPoint, as: HTTPBin.Echo.self)
            #expect(seen.url == target)
            #expect(seen.headers["Authorization"] == (keeps ? "Bearer planted" : nil))
            #expect(seen.headers["Cookie"] == (keeps ? "planted=1" : nil))
            #expect(seen.headers["X-Plain"] == (keeps ? "kept" : nil))
        }
    }

    @Test(
        "307 and 308 keep a POST and its body, 301 to 303 do not [httpbin]",
        .requirement("S2.7"),
        arguments: SessionKind.allCases, [301, 302, 303, 307, 308])
    func redirectedPost(kind: SessionKind, status: Int) async throws {
        let router = router(kind)
        let task = HTTPTask.requestParameters(
            bodyParameters: ["a": 1],
            urlParameters: ["url": try HTTPBin.url("/anything").absoluteString, "status_code": status])
        let seen = try await router.request(
            URLEndPoint(.post, HTTPBin.url("/redirect-to"), task: task), as: HTTPBin.Echo.self)
        #expect(seen.method == (status < 307 ? "GET" : "POST"))
        #expect(seen.json == (status < 307 ? nil : .object(["a": .number(1)])))
        #expect((seen.headers["Content-Type"] != nil) == (status >= 307))
    }

    @Test(
        "relative redirects are followed, too many are an error [httpbin]",
        arguments: SessionKind.allCases)
    func redirectChains(kind: SessionKind) async throws {
        let router = router(kind)
        let end = try await router.response(for: URLEndPoint(.get, HTTPBin.url("/relative-redirect/5")))
        let last = try HTTPBin.url("/get")
        #expect(end.url == last)
        let error = await #expect(throws: NetworkError.self) {
            try await router.response(for: URLEndPoint(.get, HTTPBin.url("/absolute-redirect/25")))
        }
        #expect(error?.code == .tooManyRedirects)
        #expect(error?.statusCode == 302)
    }

    @Test(
        "/delay/3 with a timeout of 0.4 s fails after 0.3 s or more [httpbin]",
        arguments: SessionKind.allCases)
    func delayTimesOut(kind: SessionKind) async throws {
        let router = router(kind)
        let options = RequestOptions { $0.timeouts = Timeouts(attempt: .milliseconds(400)) }
        let start = ContinuousClock.now
        // The server would respond after 3 s.
        let error = await #expect(throws: NetworkError.self) {
            try await router.response(for: URLEndPoint(.get, HTTPBin.url("/delay/3"), options: options))
        }
        #expect(error?.code == .timedOut)
        #expect(ContinuousClock.now - start > .milliseconds(300))
    }

    @Test(
        "/drip is read whole, and a timeout keeps the bytes so far [httpbin]",
        arguments: SessionKind.allCases)
    func drip(kind: SessionKind) async throws {
        let router = router(kind)
        let whole = try await router.response(
            for: URLEndPoint(.get, HTTPBin.url("/drip?numbytes=5&duration=0.5&delay=0")))
        #expect(whole.body == Data("*****".utf8))
        var error: NetworkError?
        // The head of a busy server may be late.
        for turn in 0..<4 where error?.statusCode == nil {
            let options = RequestOptions { $0.timeouts = Timeouts(attempt: .milliseconds(700 << turn)) }
            error = await #expect(throws: NetworkError.self) {
                try await router.response(
                    for: URLEndPoint(.get, HTTPBin.url("/drip?numbytes=10&duration=10&delay=0"), options: options))
            }
        }
        #expect(error?.code == .timedOut)
        #expect(error?.statusCode == 200)
        #expect((0..<10).contains(error?.body?.count ?? -1))
    }

    @Test(
        "each status from 100 to 599 has its documented code [httpbin]", .requirement("S3.11", "S4.6"),
        arguments: SessionKind.allCases)
    func statusTable(kind: SessionKind) async throws {
        // The redirects of httpbin lead to /redirect/1. This test checks the 3xx itself.
        let router = Router<URLEndPoint>(session: kind.make(), interceptors: [RedirectInterceptor.none])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    for status in stride(from: 100 + worker, through: 599, by: 8) { try await check(status, router) }
                }
            }
            try await group.waitForAll()
        }
    }

    private func check(_ status: Int, _ router: Router<URLEndPoint>) async throws {
        // An interim status is no final response (RFC 9110 §15.2). The server sends invalid HTTP or nothing after it.
        let options = RequestOptions { if status < 200 { $0.timeouts = Timeouts(attempt: .milliseconds(300)) } }
        let endPoint = URLEndPoint(.get, try HTTPBin.url("/status/\(status)"), options: options)
        guard !(200..<300).contains(status) else {
            let response = try await router.response(for: endPoint)
            #expect(response.statusCode == status)
            return
        }
        let error = await #expect(throws: NetworkError.self, "status \(status)") {
            try await router.response(for: endPoint)
        }
        #expect(error?.errorDescription?.isEmpty == false)
        guard status >= 200 else {
            #expect([.timedOut, .invalidResponse, .connectionLost].contains(error?.code), "status \(status)")
            return
        }
        // Written by hand from the text of the requirements.
        let code: NetworkError.Code =
            switch status {
            case 300...399: .redirection
            case 400: .badRequest
            case 401: .unauthorized
            case 403: .forbidden
            case 404: .notFound
            case 402, 405...499: .error4xx
            case 500: .serverError
            default: .error5xx
            }
        #expect(error?.code == code, "status \(status)")
        #expect(error?.statusCode == status)
    }
}
