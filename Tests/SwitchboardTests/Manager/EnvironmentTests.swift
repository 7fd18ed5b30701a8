import Foundation
import SwitchboardPlatform
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct EnvironmentTests {
    @Test("predefined and custom environments switch the base URL at run time", .requirement("S3.2"))
    func switching() async throws {
        let session = StubSession { _ in .text("") }
        let manager = NetworkManager(environment: .qa, session: session)
        let router = manager.router(for: Films.self)
        for environment in [NetworkEnvironment.qa, .staging, .production, NetworkEnvironment("canary")] {
            manager.environment = environment
            #expect(manager.environment == environment)
            _ = try await router.response(for: .latest)
        }
        #expect(
            session.requests.map(\.url?.absoluteString) == [
                "https://qa.example.com/3/latest", "https://staging.example.com/3/latest",
                "https://example.com/3/latest",
                "https://canary.example.com/3/latest",
            ])
        #expect(session.requests.map(\.environment?.name) == ["qa", "staging", "production", "canary"])
    }

    @Test("calls in flight keep their environment through redirects", .requirement("S3.2"))
    func inFlight() async throws {
        let arrived = Deliveries<Bool>()
        let gate = Deliveries<Bool>()
        let session = StubSession { request in
            if request.url?.path == "/3/latest" {
                arrived.open()
                _ = try await gate.first()
                return .status(302, headers: ["Location": "/moved"])
            }
            return .text(request.environment?.name ?? "none")
        }
        let manager = NetworkManager(environment: .staging, session: session)
        let router = manager.router(for: Films.self)
        let call = Task { try await router.request(.latest, as: String.self) }
        _ = try await arrived.first()
        manager.environment = .production
        gate.open()
        #expect(try await call.value == "staging")
        #expect(
            session.requests.map(\.url?.absoluteString) == [
                "https://staging.example.com/3/latest", "https://staging.example.com/moved",
            ])
    }

    @Test("a call from a completion begins in the manager's environment", .requirement("S3.2"))
    func fromCompletion() async throws {
        let session = StubSession { _ in .text("") }
        let manager = NetworkManager(environment: .qa, session: session)
        let (router, ends) = (manager.router(for: Films.self), Deliveries<Bool>())
        router.request(.latest) { _, _, _ in
            manager.environment = .production
            router.request(.latest) { _, _, _ in ends.open() }
        }
        _ = try await ends.first()
        #expect(session.requests.map(\.environment) == [.qa, .production])
    }

    /// Runs a closure after its first request.
    private struct After: Interceptor {
        let start: Protected<(@Sendable () -> Void)?>

        func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
            let response = try await next(request)
            start.swap(nil)?()
            return response
        }
    }

    @Test("a completion of a nested call uses the manager's environment", .requirement("S3.2"))
    func fromNestedCompletion() async throws {
        let (session, start) = (StubSession { _ in .text("") }, Protected<(@Sendable () -> Void)?>(nil))
        let manager = NetworkManager(environment: .qa, session: session, interceptors: [After(start: start)])
        let (router, ends) = (manager.router(for: Films.self), Deliveries<Bool>())
        _ = start.swap {
            router.request(.latest) { _, _, _ in
                manager.environment = .production
                router.request(.latest) { _, _, _ in ends.open() }
            }
        }
        _ = try await router.response(for: .latest)
        _ = try await ends.first()
        #expect(session.requests.map(\.environment) == [.qa, .qa, .production])
    }

    @Test("during swaps each request has the URL and name of one environment", .requirement("S3.2"))
    func atomic() async throws {
        let session = StubSession { _ in .text("") }
        let manager = NetworkManager(environment: .qa, session: session)
        let router = manager.router(for: Films.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask { manager.environment = number.isMultiple(of: 2) ? .qa : .staging }
                group.addTask { _ = try await router.response(for: .latest) }
            }
            try await group.waitForAll()
        }
        #expect(session.requests.count == 200)
        for request in session.requests {
            let name = try #require(request.environment?.name)
            #expect(request.url?.host == "\(name).example.com")
        }
    }

    @Test("a request keeps its environment if the manager's changes meanwhile", .requirement("S3.2"))
    func swappedAmidMaking() throws {
        let manager = NetworkManager(environment: .qa, session: StubSession())
        let swapping = Swapping { manager.environment = .staging }
        let request = try manager.router(for: Swapping.self).makeRequest(for: swapping)
        #expect(request.url?.host == "qa.example.com")
        #expect(request.environment == .qa)
        #expect(manager.environment == .staging)
    }

    @Test("a task can override the environment for the calls that it starts", .requirement("S3.2"))
    func taskLocal() async throws {
        let session = StubSession { _ in .text("") }
        let router = Router<Films>(session: session)
        try await NetworkEnvironment.withCurrent(.qa) {
            _ = try await router.response(for: .latest)
            try await NetworkEnvironment.withCurrent(.staging) {
                _ = try await Task { try await router.response(for: .latest) }.value
            }
            _ = try await router.response(for: .latest)
        }
        _ = try NetworkEnvironment.withCurrent(NetworkEnvironment("canary")) { try router.makeRequest(for: .latest) }
        #expect(session.requests.map(\.url?.host) == ["qa.example.com", "staging.example.com", "qa.example.com"])
        #expect(NetworkEnvironment.current == .production)
    }

    @Test("a manager's environment wins over the task's, which is its default", .requirement("S3.2"))
    func managerWins() async throws {
        let session = StubSession { _ in .text("") }
        try await NetworkEnvironment.withCurrent(.qa) {
            _ = try await NetworkManager(environment: .staging, session: session).response(for: Films.latest)
            _ = try await NetworkManager(session: session).response(for: Films.latest)
        }
        #expect(session.requests.map(\.url?.host) == ["staging.example.com", "qa.example.com"])
    }

    #if compiler(>=6.2)
    // Runs in a separate process, because the default applies to the whole process.
    @Test("the process's default is production, settable, and tasks override it", .requirement("S3.2"))
    func processDefault() async {
        await #expect(processExitsWith: .success) {
            #expect(NetworkEnvironment.default == .production)
            NetworkEnvironment.default = .staging
            #expect(NetworkEnvironment.current == .staging)
            #expect(NetworkManager().environment == .staging)
            let request = try? Router<Films>(session: StubSession()).makeRequest(for: .latest)
            #expect(request?.url?.host == "staging.example.com")
            NetworkEnvironment.withCurrent(.qa) { #expect(NetworkEnvironment.current == .qa) }
        }
    }

    // Runs in a separate process, because the default applies to the whole process.
    @Test("after a change of the default, requests start a new provider run", .requirement("S3.2"))
    func providerRuns() async {
        await #expect(processExitsWith: .success) {
            let (events, gate, runs) = (Events(), Gate(), Deliveries<String>())
            let auth = APIKeyAuth(in: .header("X-Api-Key")) {
                let name = NetworkEnvironment.current.name
                runs.add(name)
                try await gate.wait()
                return name
            }
            let session = StubSession { .text($0.headers["X-Api-Key"] ?? "none") }
            let router = Router<Films>(session: session, interceptors: [auth], monitors: [events])
            let first = Task { try await router.response(for: .latest).text }
            _ = try await runs.first()
            NetworkEnvironment.default = .staging
            let second = Task { try await router.response(for: .latest).text }
            try await events.wait(for: "waits for credentials", count: 2)
            gate.open()
            let keys = [try await first.value, try await second.value]
            #expect(keys == ["production", "staging"])
        }
    }
    #endif

    @Test("the name of an endpoint is made in the environment of its call", .requirement("S3.2"))
    func endPointName() async throws {
        let session = StubSession { _ in throw NetworkError(.timedOut) }
        let manager = NetworkManager(environment: .staging, session: session)
        let error = await #expect(throws: NetworkError.self) { try await manager.response(for: Named.here) }
        #expect(error?.endPointName == "Named.staging" && error?.request?.endPointName == "Named.staging")
    }

    @Test("an unknown environment throws, names the known ones and sends nothing", .requirement("S3.2"))
    func unknown() async throws {
        let session = StubSession { _ in .text("") }
        let manager = NetworkManager(environment: NetworkEnvironment("moon"), session: session)
        let error = await #expect(throws: NetworkError.self) { try await manager.response(for: Films.latest) }
        #expect(error?.code == .unknownEnvironment)
        #expect(error?.code.isKind(of: .invalidRequest) == true)
        #expect(error?.reason?.contains("moon") == true)
        #expect(error?.reason?.contains("production") == true)
        #expect(error?.endPointName == "Films.latest")
        #expect(session.requests.isEmpty)
    }

    @Test(
        "an invalid base URL throws with the environment's name",
        .requirement("S3.2"),
        arguments: [
            "", " ", "api.example.com", "/3/", "ftp://example.com", "http://", "http:///3", "https://exa mple.com",
            "https://[", "file:///3",
            "http://example.com:port/", "%", "://", "http//example.com", "https://?", "\0",
        ])
    func badText(text: String) async throws {
        let manager = NetworkManager(environment: .qa, servers: [.qa: text], session: StubSession { _ in .text("") })
        let error = await #expect(throws: NetworkError.self) { try await manager.send(Latest()) }
        #expect(error?.code == .invalidRequest)
        #expect(error?.reason?.contains("qa") == true)
        #expect(error?.errorDescription?.isEmpty == false)
    }

    @Test("the text of a bad base URL is shown without its password", .requirement("S3.2"))
    func badTextSecrets() throws {
        let servers: EnvironmentURLs = [.qa: "ftp://me:hunter2@example.com/"]
        let error = #expect(throws: NetworkError.self) { try servers.url(in: .qa) }
        #expect(error?.description.contains("hunter2") == false)
        #expect(error?.description.contains("example.com") == true)
    }

    @Test("a table can be changed, and the last of repeated entries wins", .requirement("S3.2"))
    func table() throws {
        var servers: EnvironmentURLs = [.qa: "https://one.example.com", .qa: "https://two.example.com"]
        #expect(try servers.url(in: .qa).absoluteString == "https://two.example.com")
        servers[.staging] = "https://three.example.com"
        #expect(try servers.url(in: .staging).absoluteString == "https://three.example.com")
        servers[.qa] = nil
        #expect(throws: NetworkError.self) { try servers.url(in: .qa) }
    }
}

private enum Films: EndPointType {
    case latest

    static let servers: EnvironmentURLs = [
        .qa: "https://qa.example.com/3/", .staging: "https://staging.example.com/3/",
        .production: "https://example.com/3/",
        NetworkEnvironment("canary"): "https://canary.example.com/3/",
    ]
    var baseURL: URL { get throws { try Self.servers.url(in: .current) } }
    var path: String { "latest" }
}

/// An endpoint whose text is the environment that reads it.
private enum Named: EndPointType, CustomStringConvertible {
    case here

    var baseURL: URL { get throws { try Films.servers.url(in: .current) } }
    var path: String { "here" }
    var description: String { NetworkEnvironment.current.name }
}

/// An endpoint that runs a closure when its base URL is read.
private struct Swapping: EndPointType {
    let happening: @Sendable () -> Void
    var baseURL: URL {
        get throws {
            happening()
            return try Films.servers.url(in: .current)
        }
    }
    var path: String { "latest" }
}

private struct Latest: TypedEndPoint {
    typealias Response = EmptyResponse
    var path: String { "latest" }
}
