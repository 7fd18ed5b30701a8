import Foundation
import SwitchboardStreams
import SwitchboardPlatform
import SwitchboardTesting
import Testing

import SwitchboardTestSupport
@testable import Switchboard

/// Closures of transfers, streams and pages run in the environment of the call's start.
@Suite(.timeLimit(.minutes(10)))
struct TransferEnvironmentTests {
    private let environments = EnvironmentRecord()

    private func servers(_ server: MockServer) -> EnvironmentURLs {
        let text = server.url.absoluteString
        return [.staging: text + "/staging", .production: text + "/production"]
    }

    @Test(
        "closures that a session calls run in the request's environment",
        arguments: SessionKind.allCases)
    func bodies(kind: SessionKind) async throws {
        let environments = environments
        let size = 300_000
        try await MockServer.run { server in
            server.stub(.any) { request in
                request.method == .get ? .data(Data(count: size)) : .status(201, headers: ["Location": "/files/1"])
            }
            let options = RequestOptions {
                $0.onBodySent = { _ in environments.record("onBodySent") }
                $0.acceptedStatusCodes = .init { environments.record("AcceptedStatusCodes", $0 < 300) }
            }
            let manager = NetworkManager(environment: .staging, session: kind.make(), options: options)
            let router = manager.router(for: NumbersApi.self)
            let left = Protected(3)
            let body = StreamBody(length: 3 * 100) {
                environments.record("StreamBody.open")
                left.withLock { $0 = 3 }
                return HTTPBodyStream {
                    environments.record("HTTPBodyStream.read")
                    let isOver = left.withLock { left in
                        left -= 1
                        return left < 0
                    }
                    return isOver ? nil : Data(count: 100)
                }
            }
            let place = NumbersApi(httpMethod: .post, task: .requestBody(body), base: servers(server))
            _ = try await router.response(for: place)
            let progress = TransferProgress { _ in environments.record("TransferProgress") }
            _ = try await router.upload(place, progress: progress)
            try await withFolder { folder in
                let file = folder.appendingPathComponent("file")
                _ = try await router.download(
                    NumbersApi(base: servers(server)), to: file,
                    progress: TransferProgress { _ in environments.record("TransferProgress") }
                ) { _ in environments.record("verify") }
                _ = try await router.response(
                    for: NumbersApi(task: .download(to: folder.appendingPathComponent("b")), base: servers(server)))
            }
            environments.expect([
                "AcceptedStatusCodes", "HTTPBodyStream.read", "StreamBody.open", "TransferProgress", "onBodySent",
                "verify",
            ])
        }
    }

    @Test("an upload in pieces stays in the environment that it began in")
    func pieces() async throws {
        let environments = environments
        let uploads = UploadServer(.tus)
        try await MockServer.run { server in
            server.stub(.any) { uploads.answer($0) }
            try await withFolder { folder in
                let file = folder.appendingPathComponent("file")
                try Data(count: 1_000).write(to: file)
                let manager = NetworkManager(environment: .staging, session: DefaultSession.shared)
                _ = try await manager.router(for: NumbersApi.self).upload(
                    NumbersApi(base: servers(server)), from: file, by: RecordingUpload(environments: environments),
                    pieceSize: 400,
                    progress: TransferProgress { _ in
                        manager.environment = .production
                        environments.record("TransferProgress")
                    })
            }
        }
        #expect(uploads.data.count == 1_000)
        environments.expect([
            "TransferProgress", "UploadFlow.offset", "UploadFlow.prepareCreation", "UploadFlow.preparePiece",
        ])
    }

    @Test("a download resumes in the environment that it began in")
    func download() async throws {
        let environments = environments
        let bytes = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
        try await MockServer.run { server in
            server.enqueue(.data(bytes).truncated(after: 90_000), .data(bytes))
            let manager = NetworkManager(environment: .staging, session: DefaultSession.make())
            let strategy = RetryStrategy.custom { _, _, result in
                manager.environment = .production
                environments.record("RetryStrategy")
                if case .failure = result { return .zero }
                return nil
            }
            try await withFolder { folder in
                _ = try await manager.router(for: NumbersApi.self).download(
                    NumbersApi(base: servers(server)), to: folder.appendingPathComponent("file"),
                    options: RequestOptions { $0.retry = RetryPolicy(strategy: strategy) })
            }
            #expect(server.requests.map(\.path) == ["/staging/list", "/staging/list"])
            environments.expect(["RetryStrategy"])
        }
    }

    @Test("pages and their closures stay in the environment of the first page")
    func pages() async throws {
        let environments = environments
        let session = StubSession { _ in .json("[1]") }
        let manager = NetworkManager(environment: .staging, session: session)
        let router = manager.router(for: NumbersApi.self)
        let numbers = router.pages(
            as: [Int].self, from: 1, while: { _ in environments.record("while", true) },
            for: { environments.record("of", NumbersApi(path: "numbers/\($0)")) })
        let cursors = router.pages(
            as: [Int].self, next: { (_: [Int]) -> Int? in environments.record("next", 2) },
            for: { (cursor: Int?) in environments.record("of", NumbersApi(path: "cursors/\(cursor ?? 0)")) })
        for pages in [numbers, cursors] {
            manager.environment = .staging
            var items = pages.items { environments.record("items", $0) }.makeAsyncIterator()
            _ = try await items.next()
            manager.environment = .production
            _ = try await items.next()
        }
        #expect(Set(session.requests.map(\.url?.host)) == ["staging.example.com"])
        #expect(session.requests.count == 4)
        environments.expect(["items", "next", "of", "while"])
    }

    @Test("events and JSON lines stay in the environment that they began in")
    func streams() async throws {
        let environments = environments
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { _ in environments.record("JSONDecoder", Date()) }
        let session = StubSession { request in
            switch request.path {
            case "/events": .text("data: 1\n\n", headers: ["Content-Type": "text/event-stream"])
            default: .text("1\n2\n", headers: ["Content-Type": "application/x-ndjson"])
            }
        }
        let manager = NetworkManager(
            environment: .staging, session: session, decoder: RecordingDecoder(environments: environments))
        let router = manager.router(for: NumbersApi.self)
        for try await _ in router.jsonLines(for: NumbersApi(), as: Int.self) {}
        let options = RequestOptions {
            $0.decoder = decoder
            $0.retry = RetryPolicy(maximumAttempts: 10, baseDelay: .zero)
        }
        for try await _ in router.jsonLines(for: NumbersApi(), as: Date.self, options: options) {}
        var events = router.events(for: NumbersApi(path: "events"), as: Date.self, options: options)
            .makeAsyncIterator()
        _ = try await events.next()
        manager.environment = .production
        _ = try await events.next()
        #expect(Set(session.requests.map(\.url?.host)) == ["staging.example.com"])
        environments.expect(["JSONDecoder", "ResponseDecoder"])
    }

    #if compiler(>=6.2)
    // Runs in a separate process, because the default applies to the whole process.
    @Test("without a manager, events and pages keep the default environment")
    func processDefault() async {
        await #expect(processExitsWith: .success) {
            let session = StubSession { request in
                request.path == "/events"
                    ? .text("data: 1\n\n", headers: ["Content-Type": "text/event-stream"]) : .json("[1]")
            }
            let router = Router<NumbersApi>(session: session)
            let options = RequestOptions { $0.retry = RetryPolicy(maximumAttempts: 10, baseDelay: .zero) }
            var events = router.events(for: NumbersApi(path: "events"), options: options).makeAsyncIterator()
            var pages = router.pages(
                as: [Int].self, from: 1, while: { _ in true }, for: { NumbersApi(path: "numbers/\($0)") }
            ).makeAsyncIterator()
            for environment in [NetworkEnvironment.production, .staging] {
                NetworkEnvironment.default = environment
                _ = try await events.next()
                _ = try await pages.next()
            }
            let hosts = session.requests.map(\.host)
            #expect(hosts == Array(repeating: "production.example.com", count: 4))
        }
    }
    #endif

    @Test("a call within a call of the same manager stays in its environment")
    func nested() async throws {
        let made = Deliveries<NetworkManager>()
        let session = StubSession { request in
            if request.path == "/token" { return .text(request.host) }
            return request.headers["Authorization"] == nil ? .status(500) : .text("ok")
        }
        let login = BearerAuth {
            let manager = try await made.first()
            manager.environment = .production
            let options = RequestOptions { $0.authentication = .none }
            return try await manager.response(for: NumbersApi(path: "token"), options: options).text
        }
        let manager = NetworkManager(environment: .staging, session: session, interceptors: [login])
        made.add(manager)
        _ = try await manager.response(for: NumbersApi())
        #expect(session.requests.map(\.host) == ["staging.example.com", "staging.example.com"])
        #expect(session.requests.last?.headers["Authorization"] == "Bearer staging.example.com")
        _ = try await manager.response(for: NumbersApi())
        #expect(session.requests.last?.host == "production.example.com")
    }
}
