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
    private let notes = EnvironmentNotes()

    private func servers(_ server: MockServer) -> EnvironmentURLs {
        let text = server.url.absoluteString
        return [.staging: text + "/staging", .production: text + "/production"]
    }

    @Test(
        "closures that a session calls run in the request's environment",
        arguments: SessionKind.allCases)
    func bodies(kind: SessionKind) async throws {
        let notes = notes
        let size = 300_000
        try await MockServer.run { server in
            server.stub(.any) { request in
                request.method == .get ? .data(Data(count: size)) : .status(201, headers: ["Location": "/files/1"])
            }
            let options = RequestOptions {
                $0.onBodySent = { _ in notes.note("onBodySent") }
                $0.acceptedStatusCodes = .init { notes.note("AcceptedStatusCodes", $0 < 300) }
            }
            let manager = NetworkManager(environment: .staging, session: kind.make(), options: options)
            let router = manager.router(for: PlaceApi.self)
            let left = Protected(3)
            let body = StreamBody(length: 3 * 100) {
                notes.note("StreamBody.open")
                left.withLock { $0 = 3 }
                return HTTPBodyStream {
                    notes.note("HTTPBodyStream.read")
                    let isOver = left.withLock { left in
                        left -= 1
                        return left < 0
                    }
                    return isOver ? nil : Data(count: 100)
                }
            }
            let place = PlaceApi(httpMethod: .post, task: .requestBody(body), base: servers(server))
            _ = try await router.response(for: place)
            let progress = TransferProgress { _ in notes.note("TransferProgress") }
            _ = try await router.upload(place, progress: progress)
            try await withFolder { folder in
                let file = folder.appendingPathComponent("file")
                _ = try await router.download(
                    PlaceApi(base: servers(server)), to: file,
                    progress: TransferProgress { _ in notes.note("TransferProgress") }
                ) { _ in notes.note("verify") }
                _ = try await router.response(
                    for: PlaceApi(task: .download(to: folder.appendingPathComponent("b")), base: servers(server)))
            }
            notes.expect([
                "AcceptedStatusCodes", "HTTPBodyStream.read", "StreamBody.open", "TransferProgress", "onBodySent",
                "verify",
            ])
        }
    }

    @Test("an upload in pieces stays in the environment that it began in")
    func pieces() async throws {
        let notes = notes
        let uploads = UploadServer(.tus)
        try await MockServer.run { server in
            server.stub(.any) { uploads.answer($0) }
            try await withFolder { folder in
                let file = folder.appendingPathComponent("file")
                try Data(count: 1_000).write(to: file)
                let manager = NetworkManager(environment: .staging, session: DefaultSession.shared)
                _ = try await manager.router(for: PlaceApi.self).upload(
                    PlaceApi(base: servers(server)), from: file, by: NotingUpload(notes: notes), pieceSize: 400,
                    progress: TransferProgress { _ in
                        manager.environment = .production
                        notes.note("TransferProgress")
                    })
            }
        }
        #expect(uploads.data.count == 1_000)
        notes.expect([
            "TransferProgress", "UploadFlow.offset", "UploadFlow.prepareCreation", "UploadFlow.preparePiece",
        ])
    }

    @Test("a download resumes in the environment that it began in")
    func download() async throws {
        let notes = notes
        let bytes = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
        try await MockServer.run { server in
            server.enqueue(.data(bytes).truncated(after: 90_000), .data(bytes))
            let manager = NetworkManager(environment: .staging, session: DefaultSession.make())
            let strategy = RetryStrategy.custom { _, _, result in
                manager.environment = .production
                notes.note("RetryStrategy")
                if case .failure = result { return .zero }
                return nil
            }
            try await withFolder { folder in
                _ = try await manager.router(for: PlaceApi.self).download(
                    PlaceApi(base: servers(server)), to: folder.appendingPathComponent("file"),
                    options: RequestOptions { $0.retry = RetryPolicy(strategy: strategy) })
            }
            #expect(server.requests.map(\.path) == ["/staging/list", "/staging/list"])
            notes.expect(["RetryStrategy"])
        }
    }

    @Test("pages and their closures stay in the environment of the first page")
    func pages() async throws {
        let notes = notes
        let session = StubSession { _ in .json("[1]") }
        let manager = NetworkManager(environment: .staging, session: session)
        let router = manager.router(for: PlaceApi.self)
        let numbers = router.pages(
            as: [Int].self, from: 1, while: { _ in notes.note("while", true) },
            for: { notes.note("of", PlaceApi(path: "numbers/\($0)")) })
        let cursors = router.pages(
            as: [Int].self, next: { (_: [Int]) -> Int? in notes.note("next", 2) },
            for: { (cursor: Int?) in notes.note("of", PlaceApi(path: "cursors/\(cursor ?? 0)")) })
        for pages in [numbers, cursors] {
            manager.environment = .staging
            var items = pages.items { notes.note("items", $0) }.makeAsyncIterator()
            _ = try await items.next()
            manager.environment = .production
            _ = try await items.next()
        }
        #expect(Set(session.requests.map(\.url?.host)) == ["staging.example.com"])
        #expect(session.requests.count == 4)
        notes.expect(["items", "next", "of", "while"])
    }

    @Test("events and JSON lines stay in the environment that they began in")
    func streams() async throws {
        let notes = notes
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { _ in notes.note("JSONDecoder", Date()) }
        let session = StubSession { request in
            switch request.path {
            case "/events": .text("data: 1\n\n", headers: ["Content-Type": "text/event-stream"])
            default: .text("1\n2\n", headers: ["Content-Type": "application/x-ndjson"])
            }
        }
        let manager = NetworkManager(
            environment: .staging, session: session, decoder: NotingDecoder(notes: notes))
        let router = manager.router(for: PlaceApi.self)
        for try await _ in router.jsonLines(for: PlaceApi(), as: Int.self) {}
        let options = RequestOptions {
            $0.decoder = decoder
            $0.retry = RetryPolicy(maximumAttempts: 10, baseDelay: .zero)
        }
        for try await _ in router.jsonLines(for: PlaceApi(), as: Date.self, options: options) {}
        var events = router.events(for: PlaceApi(path: "events"), as: Date.self, options: options)
            .makeAsyncIterator()
        _ = try await events.next()
        manager.environment = .production
        _ = try await events.next()
        #expect(Set(session.requests.map(\.url?.host)) == ["staging.example.com"])
        notes.expect(["JSONDecoder", "ResponseDecoder"])
    }

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
            return try await manager.response(for: PlaceApi(path: "token"), options: options).text
        }
        let manager = NetworkManager(environment: .staging, session: session, interceptors: [login])
        made.add(manager)
        _ = try await manager.response(for: PlaceApi())
        #expect(session.requests.map(\.host) == ["staging.example.com", "staging.example.com"])
        #expect(session.requests.last?.headers["Authorization"] == "Bearer staging.example.com")
        _ = try await manager.response(for: PlaceApi())
        #expect(session.requests.last?.host == "production.example.com")
    }
}
