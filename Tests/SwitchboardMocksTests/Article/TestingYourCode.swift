// The samples of the article "Testing Your Code", word for word: scripts/check/samples compares them.
import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

struct Note: Codable, Equatable {
    let id: Int
    let text: String
}

enum NoteApi: EndPointType {
    case list(page: Int), add(text: String)

    static let servers: EnvironmentURLs = [
        .production: "https://notes.example.com/",
        .staging: "https://staging.example.com/notes/",
    ]
    var baseURL: URL {
        get throws { try Self.servers.url(in: .current) }
    }
    var path: String { "notes" }
    var httpMethod: HTTPMethod {
        switch self {
        case .list: .get
        case .add: .post
        }
    }
    var task: HTTPTask {
        switch self {
        case .list(let page):
            .requestParameters(urlParameters: ["page": page])
        case .add(let text):
            .requestParameters(bodyParameters: ["text": text])
        }
    }
}

@MainActor
final class NoteList {
    enum State: Equatable {
        case empty, notes([String]), offline, failed(String)
    }

    private(set) var state = State.empty
    private let router: Router<NoteApi>

    init(router: Router<NoteApi>) {
        self.router = router
    }

    func load() async {
        do {
            let notes = try await router.request(
                .list(page: 1), as: [Note].self)
            state = .notes(notes.map(\.text))
        } catch NetworkError.cannotConnect, NetworkError.timedOut {
            state = .offline
        } catch let error as NetworkError {
            state = .failed(error.localizedDescription)
        } catch {
            // Canceled: the caller decides what to show.
        }
    }
}

@Suite(.timeLimit(.minutes(10)))
struct TestingYourCode {
    @Test("the router sends the request of an endpoint's case")
    func sentRequests() async throws {
        let session = StubSession()
        let notes = session.stubs(for: NoteApi.self)
        notes.stub(
            .list(page: 1), with: .json(#"[{"id": 1, "text": "milk"}]"#))
        let adding = notes.stub(
            .add(text: "eggs"), times: .once, with: .status(201))

        let router = Router<NoteApi>(session: session)
        let list = try await router.request(
            .list(page: 1), as: [Note].self)
        _ = try await router.response(for: .add(text: "eggs"))

        #expect(list == [Note(id: 1, text: "milk")])
        #expect(adding.requests.map(\.text) == [#"{"text":"eggs"}"#])
        session.verify()
    }

    @Test("calls use the environment of the manager")
    func environments() async throws {
        let session = StubSession { request in .json("[]") }
        let manager = NetworkManager(
            environment: .staging, session: session,
            headers: ["X-Client": "notes/1"])
        let router = manager.router(for: NoteApi.self)

        _ = try await router.response(for: .list(page: 1))
        manager.environment = .production
        _ = try await router.response(for: .list(page: 1))

        #expect(
            session.recordedRequests.map { $0.url?.absoluteString } == [
                "https://staging.example.com/notes/notes?page=1",
                "https://notes.example.com/notes?page=1",
            ])
        #expect(
            session.requests.allSatisfy {
                $0.headers["X-Client"] == "notes/1"
            })
    }

    @Test("a retry waits for Retry-After")
    func retryAfter() async throws {
        let clock = TestClock(skips: true)
        let session = StubSession(
            .status(503, headers: ["Retry-After": "20"]), .close,
            .json("[]"))
        let router = Router<NoteApi>(
            session: session,
            interceptors: [RetryPolicy(jitter: nil, clock: clock)])

        #expect(
            try await router.request(.list(page: 1), as: [Note].self)
                == [])
        #expect(clock.sleeps == [.seconds(20), .seconds(1)])
        session.verify()
    }

    @Test("the list is offline without a network")
    @MainActor func offline() async {
        let session = StubSession(
            .failure(.noInternetConnection),
            .json(#"[{"id": 1, "text": "milk"}]"#))
        let list = NoteList(router: Router(session: session))

        await list.load()
        #expect(list.state == .offline)
        await list.load()
        #expect(list.state == .notes(["milk"]))
    }

    @Test(
        "the list has a state after every fault",
        arguments: MockFault.all)
    @MainActor func faults(fault: MockFault) async throws {
        try await MockServer.run { server in
            server.enqueue(fault.response)
            let options = RequestOptions {
                $0.timeouts.attempt = .seconds(2)
            }
            let router = Router<NoteApi>(
                interceptors: [Redirected(to: server.url)],
                options: options)
            let list = NoteList(router: router)
            await list.load()
            #expect(list.state != .empty)
            let target = server.requests.first?.target
            #expect(target == nil || target == "/notes?page=1")
        }
    }

    @Test("a slow connection times out")
    func idleTimeout() async {
        let clock = TestClock(skips: true)
        let session = StubSession(
            clock: clock, .json("[]").delayed(by: .seconds(9)))
        let options = RequestOptions { $0.timeouts.idle = .seconds(4) }
        let router = Router<NoteApi>(
            session: session, options: options)

        await #expect {
            try await router.response(for: .list(page: 1))
        } throws: {
            NetworkError.timedOut ~= $0
        }
        #expect(clock.now.offset == .seconds(4))
    }
}

/// Sends every request to a server of the test.
struct Redirected: Interceptor {
    let server: URL

    init(to server: URL) {
        self.server = server
    }

    func intercept(
        _ request: NetworkRequest, next: Next
    ) async throws -> NetworkResponse {
        var request = request
        request.scheme = server.scheme ?? "http"
        request.host = server.host ?? "127.0.0.1"
        request.port = server.port
        return try await next(request)
    }
}
