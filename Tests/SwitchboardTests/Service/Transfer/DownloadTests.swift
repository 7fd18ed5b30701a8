import Foundation
import SwitchboardPlatform
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@testable import Switchboard

/// `router.download(_:to:)` without lost connections, and with responses that must not be saved.
@Suite(.timeLimit(.minutes(10)))
struct DownloadTests {
    private func endPoint(_ server: MockServer, _ path: String = "/file", headers: HTTPHeaders = [:]) -> URLEndPoint {
        URLEndPoint(.get, server.url.appendingPathComponent(path), headers: headers)
    }

    @Test("a file name that is too long is refused before the request")
    func longName() async throws {
        let session = StubSession(.text("a"))
        try await withFolder { folder in
            let file = folder.appendingPathComponent(String(repeating: "\u{6F22}", count: 100))
            let error = await #expect(throws: NetworkError.self) {
                let endPoint = URLEndPoint(.get, URL(text: "http://h.test/"))
                try await Router<URLEndPoint>(session: session).download(endPoint, to: file)
            }
            #expect(error?.code == .cannotWriteFile && session.requests.isEmpty)
        }
    }

    @Test(
        "a download saves every byte and leaves nothing else in the folder", .requirement("S0.13"),
        arguments: SessionKind.allCases)
    func whole(kind: SessionKind) async throws {
        let content = RangeServer.content(3_000_001)
        try await withFolder { folder in
            try await MockServer.run { server in
                server.enqueue(RangeServer(content: content).whole)
                let file = folder.appendingPathComponent("a.bin")
                let router = Router<URLEndPoint>(session: kind.make())
                let response = try await router.download(endPoint(server), to: file)
                #expect(try Data(contentsOf: file) == content)
                #expect(response.fileURL == file)
                #expect(response.body.isEmpty)
                #expect(response.metrics.bytesReceived == 3_000_001)
                #expect(names(in: folder) == ["a.bin"])
                #expect(server.requests[0].headers["Accept"] == "*/*")
                #expect(server.requests[0].headers.values(for: "Accept-Encoding") == ["identity"])
                #expect(server.requests[0].headers["Range"] == nil)
            }
        }
    }

    @Test("a download replaces the file, also with an empty one", arguments: SessionKind.allCases)
    func replaced(kind: SessionKind) async throws {
        try await withFolder { folder in
            try await MockServer.run { server in
                server.enqueue(.text("new"), .status(200))
                let file = folder.appendingPathComponent("a")
                try Data("old and longer".utf8).write(to: file)
                let router = Router<URLEndPoint>(session: kind.make())
                try await router.download(endPoint(server), to: file)
                #expect(try Data(contentsOf: file) == Data("new".utf8))
                let progress = TransferProgress()
                try await router.download(endPoint(server), to: file, progress: progress)
                #expect(try Data(contentsOf: file) == Data())
                #expect(await progress.reduce(nil) { $1.fraction } == 1)
            }
        }
    }

    @Test("a download with the coding identity has a size", arguments: SessionKind.allCases)
    func identity(kind: SessionKind) async throws {
        try await withFolder { folder in
            try await MockServer.run { server in
                server.enqueue(.data(Data(count: 1_000)).with("Content-Encoding", "identity"))
                let progress = TransferProgress()
                try await Router<URLEndPoint>(session: kind.make()).download(
                    endPoint(server), to: folder.appendingPathComponent("a"), progress: progress)
                #expect(progress.current.expected == 1_000)
                #expect(progress.current.fraction == 1)
            }
        }
    }

    @Test(
        "a file may have the longest name of a file system, 255 bytes", arguments: ["a", "ä", "👩‍🚀"], [true, false])
    func longestName(character: String, isKept: Bool) async throws {
        try await withFolder { folder in
            let name = String(repeating: character, count: 255 / character.utf8.count)
            let router = Router<URLEndPoint>(session: StubSession(.text("new")))
            let file = folder.appendingPathComponent(name)
            try await router.download(
                URLEndPoint(.get, URL(text: "http://h.test/")), to: file, keepingPartial: isKept)
            #expect(try Data(contentsOf: file) == Data("new".utf8))
            #expect(names(in: folder) == [name])
        }
    }

    @Test("names of 255 bytes with different ends have separate partial files")
    func longNames() async throws {
        try await withFolder { folder in
            let start = String(repeating: "a", count: 254)
            let files = try ["b", "c"].map {
                try PartialFile(for: folder.appendingPathComponent(start + $0), isKept: true)
            }
            #expect(Set(files.map(\.url)).count == 2)
        }
    }

    @Test("a compressed response is saved decompressed", arguments: SessionKind.allCases)
    func compressed(kind: SessionKind) async throws {
        try await withFolder { folder in
            try await MockServer.run { server in
                server.enqueue(.text(String(repeating: "text ", count: 10_000)).gzipped())
                let file = folder.appendingPathComponent("a")
                try await Router<URLEndPoint>(session: kind.make()).download(endPoint(server), to: file)
                #expect(try Data(contentsOf: file) == Data(String(repeating: "text ", count: 10_000).utf8))
            }
        }
    }

    /// A response and the error code of its download.
    struct Refusal: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let answer: MockResponse
        let code: NetworkError.Code
    }

    private static let refusals = [
        Refusal(testDescription: "404", answer: .text("no", statusCode: 404), code: .notFound),
        Refusal(testDescription: "204", answer: .status(204), code: .noData),
        Refusal(
            testDescription: "a part unasked", answer: RangeServer(content: Data(count: 10)).part(0..<5),
            code: .invalidResponse),
        Refusal(testDescription: "cut", answer: .text("abcdef").truncated(after: 3), code: .truncatedBody),
        Refusal(
            testDescription: "announced too large", answer: .data(Data(count: 100_001)), code: .responseTooLarge),
        Refusal(
            testDescription: "too large", answer: .data(Data(count: 100_001)).chunked(5_000), code: .responseTooLarge),
        Refusal(testDescription: "silent", answer: .text("abcdef").stalled(after: 3), code: .timedOut),
    ]

    @Test(
        "a failed download keeps the old file and adds no other",
        .requirement("S0.13"),
        arguments: SessionKind.allCases, refusals)
    func refused(kind: SessionKind, refusal: Refusal) async throws {
        try await withFolder { folder in
            try await MockServer.run { server in
                server.enqueue(refusal.answer.repeated())
                let file = folder.appendingPathComponent("a")
                try Data("old".utf8).write(to: file)
                let options = RequestOptions {
                    $0.limits.downloadedFile = 100_000
                    if refusal.code == .timedOut { $0.timeouts.idle = .milliseconds(300) }
                    $0.retry = RetryPolicy(maximumAttempts: 2, clock: TestClock(skips: true))
                }
                let router = Router<URLEndPoint>(session: kind.make(), options: options)
                let error = await #expect(throws: NetworkError.self) {
                    try await router.download(endPoint(server), to: file)
                }
                #expect(error?.code == refusal.code)
                #expect(error?.url == server.url.appendingPathComponent("/file"))
                #expect(try Data(contentsOf: file) == Data("old".utf8))
                #expect(names(in: folder) == ["a"])
            }
        }
    }

    @Test("a download of as many bytes as the limit allows is complete", arguments: [true, false], [true, false])
    func atTheLimit(isAnnounced: Bool, keepsPartial: Bool) async throws {
        try await withFolder { folder in
            try await MockServer.run { server in
                let body = MockResponse.data(Data(count: 1_000))
                server.enqueue(isAnnounced ? body : body.chunked(100))
                let options = RequestOptions { $0.limits.downloadedFile = 1_000 }
                let router = Router<URLEndPoint>(session: DefaultSession.make(), options: options)
                let file = folder.appendingPathComponent("a")
                _ = try await router.download(endPoint(server), to: file, keepingPartial: keepsPartial)
                #expect(try Data(contentsOf: file).count == 1_000)
            }
        }
    }

    @Test("a path that cannot be written throws before sending, with the path", arguments: [true, false])
    func placesThatAreNone(isKept: Bool) async throws {
        let session = StubSession(.text("a").repeated())
        let router = Router<URLEndPoint>(session: session)
        let endPoint = URLEndPoint(.get, URL(text: "http://h.test/"))
        try await withFolder { folder in
            for place in [folder, folder.appendingPathComponent("none/a"), URL(text: "http://h.test/a")] {
                let error = await #expect(throws: NetworkError.self) {
                    try await router.download(endPoint, to: place, keepingPartial: isKept)
                }
                #expect(error?.code == .cannotWriteFile)
                #expect(error?.reason?.contains(place.isFileURL ? place.path : place.absoluteString) == true)
            }
            #expect(names(in: folder) == [])
        }
        #expect(session.requests.isEmpty)
    }

    @Test("a download of a session without streams has no body in memory")
    func fromMemory() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("a")
            let session = AdHocSession { _ in NetworkResponse(statusCode: 200, body: Data("content".utf8)) }
            let response = try await Router<URLEndPoint>(session: session).download(
                URLEndPoint(.get, URL(text: "http://h.test/")), to: file)
            #expect(try Data(contentsOf: file) == Data("content".utf8))
            #expect(response.body.isEmpty && response.metrics.bytesReceived == 7)
        }
    }

    @Test("verification runs before the rename, and its error removes the file", .requirement("S0.13"))
    func verified() async throws {
        struct Mismatch: Error {}
        let session = StubSession(.text("content").repeated())
        let router = Router<URLEndPoint>(session: session)
        let endPoint = URLEndPoint(.get, URL(text: "http://h.test/"))
        for isKept in [true, false] {
            try await withFolder { folder in
                let file = folder.appendingPathComponent("a")
                let error = await #expect(throws: NetworkError.self) {
                    try await router.download(endPoint, to: file, keepingPartial: isKept) { _ in throw Mismatch() }
                }
                #expect(error?.code == .verificationFailed)
                #expect(error?.underlying is Mismatch)
                #expect(names(in: folder) == [])
                let seen = Deliveries<Data>()
                try await router.download(endPoint, to: file, keepingPartial: isKept) { whole in
                    #expect(!FileManager.default.fileExists(atPath: file.path))
                    seen.add(try Data(contentsOf: whole))
                }
                #expect(seen.all == [Data("content".utf8)])
                #expect(names(in: folder) == ["a"])
            }
        }
    }

    // MARK: Cancellation

    enum Canceller: CaseIterable, Sendable { case task, router, progress }

    @Test(
        "a canceled download closes its connection and leaves nothing",
        arguments: SessionKind.allCases, Canceller.allCases)
    func cancelled(kind: SessionKind, canceller: Canceller) async throws {
        try await withFolder { folder in
            try await MockServer.run { server in
                server.enqueue(.stalled(after: 100_000))
                let progress = TransferProgress()
                let router = Router<URLEndPoint>(session: kind.make())
                let endPoint = endPoint(server)
                let task = Task {
                    try await router.download(endPoint, to: folder.appendingPathComponent("a"), progress: progress)
                }
                for await update in progress where update.completed > 0 { break }
                switch canceller {
                case .task: task.cancel()
                case .router: router.cancel()
                case .progress: progress.foundationProgress.cancel()
                }
                await #expect(throws: CancellationError.self) { try await task.value }
                try await server.waitForDisconnect()
                #expect(names(in: folder) == [])
            }
        }
    }

    @Test(
        "the total timeout covers the whole download, body and waits included", arguments: SessionKind.allCases)
    func total(kind: SessionKind) async throws {
        try await withFolder { folder in
            try await MockServer.run { server in
                // The body never ends, so a slow machine changes nothing.
                server.enqueue(
                    .data(Data(count: 100_000)).chunked(100).paced(every: .milliseconds(20)).stalled(after: 99_000))
                let options = RequestOptions { $0.timeouts = Timeouts(idle: nil, total: .milliseconds(200)) }
                let router = Router<URLEndPoint>(session: kind.make(), options: options)
                let error = await #expect(throws: NetworkError.self) {
                    try await router.download(endPoint(server), to: folder.appendingPathComponent("a"))
                }
                #expect(error?.code == .timedOut)
                #expect(error?.reason == "no complete response within 0.2 s (timeouts.total)")
                #expect(error?.url == server.url.appendingPathComponent("/file"))
            }
        }
    }

    @Test("the total timeout ends a download from a silent server", arguments: SessionKind.allCases)
    func totalOfSilence(kind: SessionKind) async throws {
        try await withFolder { folder in
            try await MockServer.run { server in
                // On a busy machine, the timeout may pass before the session connects.
                for turn in 0..<8 where server.connectionCount == 0 {
                    server.enqueue(.text("abcdef").stalled(after: 3))
                    let limit = Duration.milliseconds(500 << turn)
                    let options = RequestOptions { $0.timeouts.total = limit }
                    let router = Router<URLEndPoint>(session: kind.make(), options: options)
                    let error = await #expect(throws: NetworkError.self) {
                        try await router.download(endPoint(server), to: folder.appendingPathComponent("a"))
                    }
                    #expect(error?.code == .timedOut)
                    #expect(error?.reason == "no complete response within \(limit.secondsText) (timeouts.total)")
                }
                try await server.waitForDisconnect()
                #expect(names(in: folder) == [])
            }
        }
    }

    @Test("a pipe is not replaced; a symbolic link is, and its target stays")
    func placesThatAreNoFiles() async throws {
        let session = StubSession(.text("new").repeated())
        let router = Router<URLEndPoint>(session: session)
        let endPoint = URLEndPoint(.get, URL(text: "http://h.test/"))
        try await withFolder { folder in
            let pipe = folder.appendingPathComponent("pipe")
            #expect(mkfifo(pipe.path, 0o600) == 0)
            for isKept in [true, false] {
                let error = await #expect(throws: NetworkError.self) {
                    try await router.download(endPoint, to: pipe, keepingPartial: isKept)
                }
                #expect(error?.code == .cannotWriteFile)
            }
            #expect(session.requests.isEmpty)
            #expect(names(in: folder) == ["pipe"])
            let (target, link) = (folder.appendingPathComponent("target"), folder.appendingPathComponent("link"))
            try Data("old".utf8).write(to: target)
            #expect(symlink(target.path, link.path) == 0)
            try await router.download(endPoint, to: link)
            #expect(try Data(contentsOf: link) == Data("new".utf8))
            #expect(try Data(contentsOf: target) == Data("old".utf8))
        }
    }
}
