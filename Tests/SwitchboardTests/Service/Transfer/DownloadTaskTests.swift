import Foundation
import Switchboard
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

/// Tasks whose response goes into a file, by each kind of call.
@Suite(.inTurn, .serialized, .timeLimit(.minutes(10)))
struct DownloadTaskTests {
    @Test(
        "a download replaces its file and leaves nothing else [downloads]",
        .requirement("S0.13", "S3.3"),
        arguments: SessionKind.allCases, [true, false])
    func downloadReplaces(kind: SessionKind, isChunked: Bool) async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("movie.bin")
            try Data("old".utf8).write(to: file)
            let body = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            try await MockServer.run { server in
                server.enqueue(isChunked ? .data(body).chunked(7_000) : .data(body))
                let response = try await router(kind).rawResponse(for: download(server, to: file))
                #expect(response.fileURL == file)
                #expect(response.body.isEmpty)
                #expect(response.metrics.bytesReceived == 200_000)
                #expect(response.metrics.duration != nil)
            }
            #expect(try Data(contentsOf: file) == body)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["movie.bin"])
        }
    }

    @Test("the file and the checks of download(_:to:) replace those of the task")
    func taskReplaced() async throws {
        try await withFolder { folder in
            let (own, file) = (folder.appendingPathComponent("own"), folder.appendingPathComponent("file"))
            let endPoint = URLEndPoint(.get, URL(text: "https://a.example.com/"), task: .download(to: own))
            let router = Router<URLEndPoint>(session: StubSession { _ in .text("abc") })
            let (progress, checked) = (TransferProgress(), Deliveries<Bool>())
            let response = try await router.download(
                endPoint, to: file, progress: progress, verify: { _ in checked.add(true) })
            #expect(response.fileURL == file)
            #expect(names(in: folder) == ["file"])
            #expect(checked.all == [true])
            #expect(progress.current.completed == 3)
            try await router.response(for: endPoint)
            #expect(names(in: folder).sorted() == ["file", "own"])
        }
    }

    @Test("download(_:to:) saves the response also if the router streams")
    func streamingRouter() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("file")
            let router = Router<URLEndPoint>(
                session: StubSession(.text("abc")), options: RequestOptions { $0.streamsResponse = true })
            let response = try await router.download(
                URLEndPoint(.get, URL(text: "https://a.example.com/")), to: file)
            #expect(response.fileURL == file)
            #expect(try Data(contentsOf: file) == Data("abc".utf8))
        }
    }

    @Test("empty and compressed bodies become files too [downloads]", arguments: SessionKind.allCases)
    func otherBodies(kind: SessionKind) async throws {
        try await withFolder { folder in
            let packed = Data(base64Encoded: SessionBodyTests.compressed["gzip"] ?? "") ?? Data()
            try await MockServer.run { server in
                server.enqueue(.status(200), .data(packed).with("Content-Encoding", "gzip"))
                for text in ["", SessionBodyTests.text] {
                    let file = folder.appendingPathComponent("file")
                    _ = try await router(kind).rawResponse(for: download(server, to: file))
                    #expect(try Data(contentsOf: file) == Data(text.utf8))
                }
            }
        }
    }

    @Test(
        "a failed or canceled download leaves no file [downloads]",
        arguments: SessionKind.allCases, ["cut", "reset", "time", "cancel"])
    func brokenDownloadLeavesNothing(kind: SessionKind, how: String) async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("movie.bin")
            let router = router(kind)
            try await MockServer.run { server in
                switch how {
                case "cut": server.enqueue(.truncated(after: 1_000))
                case "reset": server.enqueue(.reset)
                default: server.enqueue(.stalled(after: 1_000))
                }
                let endPoint = download(server, to: file) {
                    if how == "time" { $0.timeouts.attempt = .milliseconds(200) }
                }
                let task = Task { try await router.rawResponse(for: endPoint) }
                if how == "cancel" {
                    _ = try await server.takeRequest()
                    task.cancel()
                }
                switch await task.result {
                case .success: Issue.record("a broken download is no success")
                case .failure(let error):
                    switch how {
                    case "cancel": #expect(error is CancellationError)
                    case "time": #expect((error as? NetworkError)?.code == .timedOut)
                    case "cut":
                        #expect((error as? NetworkError)?.code == .truncatedBody)
                        #expect((error as? NetworkError)?.statusCode == 200)
                    default: #expect((error as? NetworkError)?.code == .connectionLost)
                    }
                }
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        }
    }

    @Test(
        "a 404's body stays in memory, the file untouched [downloads]", .requirement("S0.13"),
        arguments: SessionKind.allCases)
    func errorPageIsNoDownload(kind: SessionKind) async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("movie.bin")
            try await MockServer.run { server in
                server.enqueue(.text("no such movie", statusCode: 404))
                let response = try await router(kind).rawResponse(for: download(server, to: file))
                #expect(response.statusCode == 404)
                #expect(response.text == "no such movie")
                #expect(response.fileURL == nil)
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        }
    }

    @Test("a missing folder is cannotWriteFile with the path [downloads]", arguments: SessionKind.allCases)
    func noFolder(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.text("next"))
            let router = router(kind)
            let file = URL(fileURLWithPath: "/no/such/folder/movie.bin")
            let error = await #expect(throws: NetworkError.self) {
                try await router.rawResponse(for: download(server, to: file))
            }
            #expect(error?.code == .cannotWriteFile)
            #expect(error?.description.contains("/no/such/folder/movie.bin") == true)
            let next = try await router.rawResponse(for: URLEndPoint(.get, server.url))
            #expect(next.text == "next")
        }
    }

    @Test(
        "a download over its limit keeps the old file [downloads]", arguments: SessionKind.allCases,
        [true, false])
    func downloadLimit(kind: SessionKind, isAnnounced: Bool) async throws {
        try await expectDownload(kind, leaving: "old") { server, options in
            let body = MockResponse.data(Data(repeating: 1, count: 50_000))
            server.enqueue(isAnnounced ? body : body.chunked(1_000))
            options.limits.downloadedFile = 10_000
            return .responseTooLarge
        }
    }

    @Test(
        "a 204 or a refused status keeps the old file [downloads]",
        arguments: SessionKind.allCases)
    func refusedDownload(kind: SessionKind) async throws {
        try await expectDownload(kind, leaving: "old") { server, _ in
            server.enqueue(.status(204))
            return nil
        }
        try await expectDownload(kind, leaving: "old") { server, options in
            server.enqueue(.text("new"))
            options.acceptedStatusCodes = .range(201..<202)
            return nil
        }
    }

    @Test(
        "a long name works, and a failed rename leaves no part [downloads]",
        arguments: SessionKind.allCases)
    func takingTheName(kind: SessionKind) async throws {
        try await expectDownload(kind, named: String(repeating: "n", count: 250), leaving: "new") { server, _ in
            server.enqueue(.text("new"))
            return nil
        }
        try await expectDownload(kind, named: "folder/", leaving: nil) { server, _ in
            server.enqueue(.text("new"))
            return .cannotWriteFile
        }
    }

    // MARK: Lost connections

    @Test(
        "a policy resumes a broken download in either form [downloads]",
        arguments: SessionKind.allCases, [true, false])
    func resumed(kind: SessionKind, isAsync: Bool) async throws {
        let files = RangeServer(content: RangeServer.content(300_000))
        try await withFolder { folder in
            try await MockServer.run { server in
                server.enqueue(files.whole.truncated(after: 100_000))
                server.stub(.any) { files.answer($0) }
                let file = folder.appendingPathComponent("a")
                let progress = TransferProgress()
                let policy = RetryPolicy(clock: TestClock(skips: true))
                let router = Router<URLEndPoint>(session: kind.make(), interceptors: [policy])
                let endPoint = URLEndPoint(.get, server.url, task: .download(to: file, progress: progress))
                let response =
                    if isAsync {
                        try await router.response(for: endPoint)
                    } else {
                        try await withCheckedThrowingContinuation { continuation in
                            router.response(for: endPoint) { continuation.resume(with: $0) }
                        }
                    }
                #expect(response.fileURL == file)
                #expect(response.metrics.bytesReceived == 300_000)
                #expect(response.history.count == 2)
                #expect(try Data(contentsOf: file) == files.content)
                #expect(server.requests.map { $0.headers["Range"] } == [nil, "bytes=100000-"])
                #expect(progress.current.completed == 300_000)
                #expect(progress.current.expected == 300_000)
                var updates = 0
                for await _ in progress { updates += 1 }  // it has ended
                #expect(updates == 1)
            }
        }
    }

    @Test(
        "without a policy one call sends once, the next resumes [downloads]",
        arguments: SessionKind.allCases)
    func kept(kind: SessionKind) async throws {
        let files = RangeServer(content: RangeServer.content(300_000))
        try await withFolder { folder in
            try await MockServer.run { server in
                server.enqueue(files.whole.truncated(after: 100_000))
                server.stub(.any) { files.answer($0) }
                let file = folder.appendingPathComponent("a")
                let router = router(kind)
                let endPoint = URLEndPoint(.get, server.url, task: .download(to: file, keepingPartial: true))
                let error = await #expect(throws: NetworkError.self) { try await router.response(for: endPoint) }
                #expect(error?.code == .truncatedBody)
                #expect(server.requests.count == 1)
                let response = try await router.response(for: endPoint)
                #expect(response.metrics.bytesReceived == 200_000)
                let saved = try Data(contentsOf: file)
                #expect(saved == files.content)
                #expect(names(in: folder) == ["a"])
            }
        }
    }

    // MARK: Large bodies

    @Test(
        "16 MB arrive unchanged in memory and files, both ways [large bodies]",
        arguments: SessionKind.allCases)
    func largeBodies(kind: SessionKind) async throws {
        var generator = SeededGenerator(seed: 16)
        let part = Data((0..<65_521).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
        var body = Data()
        while body.count < 16_000_000 { body.append(part) }
        let whole = body
        try await withFolder { folder in
            let (source, copy) = (folder.appendingPathComponent("source"), folder.appendingPathComponent("copy"))
            try whole.write(to: source)
            try await MockServer.run(handler: { .data($0.body) }) { server in
                let session = kind.make()
                let response = try await session.send(NetworkRequest(.post, server.url, body: FileBody(source)))
                #expect(response.body == whole)
                let endPoint = URLEndPoint(.post, server.url, task: .requestBody(DataBody(whole)))
                let download = try await Router<URLEndPoint>(session: session).download(endPoint, to: copy)
                #expect(download.fileURL == copy)
                #expect(try Data(contentsOf: copy) == whole)
                #expect(server.requests.map(\.body) == [whole, whole])
            }
        }
    }

    private func router(_ kind: SessionKind) -> Router<URLEndPoint> { Router(session: kind.make()) }

    private func download(
        _ server: MockServer, to file: URL, _ change: @escaping @Sendable (inout RequestOptions) -> Void = { _ in }
    ) -> URLEndPoint {
        URLEndPoint(.get, server.url, task: .download(to: file), options: RequestOptions(change))
    }

    /// Downloads over a file with the content "old", and checks the folder afterwards.
    private func expectDownload(
        _ kind: SessionKind, named name: String = "file", leaving content: String?,
        _ prepare: (MockServer, inout RequestOptions) -> NetworkError.Code?
    ) async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent(name)
            if name.hasSuffix("/") {
                try FileManager.default.createDirectory(
                    at: file.appendingPathComponent("full"), withIntermediateDirectories: true)
            } else {
                try Data("old".utf8).write(to: file)
            }
            try await MockServer.run { server in
                var options = RequestOptions()
                let code = prepare(server, &options)
                let endPoint = URLEndPoint(.get, server.url, task: .download(to: file), options: options)
                if let code {
                    let error = await #expect(throws: NetworkError.self) {
                        try await router(kind).rawResponse(for: endPoint)
                    }
                    #expect(error?.code == code)
                } else {
                    _ = try await router(kind).rawResponse(for: endPoint)
                }
            }
            if let content { #expect(try Data(contentsOf: file) == Data(content.utf8)) }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
        }
    }
}
