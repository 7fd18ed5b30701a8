import SwitchboardPlatform
@testable import SwitchboardAuth
import Foundation
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@testable import Switchboard

/// Concurrent requests that meet an expired token, at a loopback server with the resource and the token endpoint.
@Suite(.inTurn, .serialized, .timeLimit(.minutes(10)))
struct ExpiredTokenServerTests {
    /// The server's behavior on a refresh.
    enum Course: CaseIterable, Sendable {
        case rotating, slow, failing
    }

    static let cases: [(SessionKind, Course, Int)] = SessionKind.allCases.flatMap { kind in
        Course.allCases.map { (kind, $0, kind == .curl ? 1_000 : 100) }
    }

    @Test(
        "1,000 requests with an expired token share one refresh and its result",
        .requirement("S2.21"),
        arguments: cases)
    func expired(kind: SessionKind, course: Course, count: Int) async throws {
        let tokens = TokenServer(course == .slow ? .milliseconds(300) : .zero, isFailing: course == .failing)
        try await MockServer.run(handler: { tokens.answer($0) }) { server in
            let session = kind.make()
            let waiting = WaitingCounter()
            let interceptor = try await tokens.interceptor(
                server,
                AdHocSession { request in
                    // A request that starts after the failure would get another error: not signed in.
                    if course == .failing { _ = try await waiting.values.wait(for: count) }
                    return try await session.send(request)
                })
            let router = Router<URLEndPoint>(
                session: session, interceptors: [interceptor],
                options: RequestOptions { $0.monitors.append(waiting) })
            let endPoint = URLEndPoint(.get, server.url.appendingPathComponent("films"))
            let outcomes = await outcomes(count, router, endPoint)
            #expect(outcomes.count == count)
            #expect(tokens.refreshes.all == ["refresh-0"])
            if course == .failing {
                #expect(Set(outcomes.map(\.code)) == [.cannotAuthenticate])
                #expect(Set(outcomes.map(\.reason)).count == 1)
                #expect(tokens.served.all.isEmpty)
                return
            }
            #expect(outcomes.allSatisfy { $0.status == 200 })
            // Each request is served once, with the new token.
            #expect(tokens.served.all == Array(repeating: "access-1", count: count))
            let sent = server.requests.filter { $0.path != "/token" }.map { $0.headers["Authorization"] }
            #expect(Set(sent) == ["Bearer access-0", "Bearer access-1"])
            #expect(sent.count <= 2 * count)
            let after = try await router.response(for: endPoint)
            #expect(after.history.count == 1)
            #expect(server.requests.last?.headers["Authorization"] == "Bearer access-1")
        }
    }

    @Test(
        "a refresh completes after one or all of its waiters are canceled",
        .requirement("S2.21"),
        arguments: SessionKind.allCases, [1, Int.max])
    func cancelled(kind: SessionKind, cancels: Int) async throws {
        let gate = Deliveries<Bool>()
        let tokens = TokenServer(.zero, isFailing: false)
        try await MockServer.run(handler: { tokens.answer($0) }) { server in
            let session = kind.make()
            let interceptor = try await tokens.interceptor(
                server,
                AdHocSession { request in
                    _ = try await gate.first()
                    return try await session.send(request)
                })
            let waiting = WaitingCounter()
            let router = Router<URLEndPoint>(
                session: session, interceptors: [interceptor],
                options: RequestOptions { $0.monitors.append(waiting) })
            let endPoint = URLEndPoint(.get, server.url.appendingPathComponent("films"))
            let count = kind == .curl ? 1_000 : 50
            let calls = (0..<count).map { _ in Task { try await router.response(for: endPoint).statusCode } }
            _ = try await waiting.values.wait(for: count)
            for call in calls.prefix(cancels) { call.cancel() }
            for call in calls.prefix(cancels) { await #expect(throws: CancellationError.self) { try await call.value } }
            gate.open()
            for call in calls.dropFirst(cancels) { #expect(try await call.value == 200) }
            #expect(try await router.response(for: endPoint).statusCode == 200)
            #expect(tokens.refreshes.all == ["refresh-0"])
            #expect(tokens.served.all == Array(repeating: "access-1", count: count + 1 - min(cancels, count)))
        }
    }

    private struct Outcome: Sendable {
        var status: Int?
        var code: NetworkError.Code?
        var reason: String?
    }

    private func outcomes(
        _ count: Int, _ router: Router<URLEndPoint>, _ endPoint: URLEndPoint
    ) async -> [Outcome] {
        await withTaskGroup(of: Outcome.self) { group in
            for _ in 0..<count {
                group.addTask {
                    do {
                        return Outcome(status: try await router.response(for: endPoint).statusCode)
                    } catch {
                        let error = error as? NetworkError
                        return Outcome(code: error?.code, reason: error?.reason)
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }
}

/// A server whose `/token` exchanges `refresh-0`, `refresh-1`… once each for `access-1`, `access-2`…. Other paths
/// require the newest token. `access-0` has expired.
final class TokenServer: Sendable {
    let refreshes = Deliveries<String>()
    let served = Deliveries<String>()
    private let delay: Duration
    private let isFailing: Bool
    private let number = Protected(0)

    init(_ delay: Duration, isFailing: Bool) {
        self.delay = delay
        self.isFailing = isFailing
    }

    func answer(_ request: RecordedRequest) -> MockResponse {
        guard request.path == "/token" else {
            let token = String((request.headers["Authorization"] ?? "").dropFirst("Bearer ".count))
            guard number.value > 0, token == "access-\(number.value)" else {
                return .status(401, headers: ["WWW-Authenticate": "Bearer error=\"invalid_token\""])
            }
            served.add(token)
            return .text("films")
        }
        let form = FormBody.decode(request.body)
        refreshes.add(form.first { $0.name == "refresh_token" }?.value ?? "none")
        guard !isFailing, form.contains(URLQueryItem(name: "refresh_token", value: "refresh-\(number.value)")) else {
            return .json(#"{"error":"invalid_grant","error_description":"it was used"}"#, statusCode: 400)
        }
        let new = number.withLock { number in
            number += 1
            return number
        }
        return .token("access-\(new)", "refresh-\(new)").delayed(by: delay)
    }

    /// Returns an interceptor that holds `access-0` and refreshes at this server by the session.
    func interceptor(
        _ server: MockServer, _ session: any NetworkSession
    ) async throws -> AuthenticationInterceptor<OAuth2Authenticator> {
        let client = OAuth2Client(
            id: "app", tokenURL: server.url.appendingPathComponent("token"), session: session)
        let interceptor = AuthenticationInterceptor(OAuth2Authenticator(client))
        try await interceptor.signIn(OAuthToken(accessToken: "access-0", refreshToken: "refresh-0"), in: nil)
        return interceptor
    }
}
