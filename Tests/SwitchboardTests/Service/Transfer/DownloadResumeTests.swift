import Foundation
import SwitchboardTesting
import Testing

import SwitchboardTestSupport
@testable import Switchboard

/// Downloads whose connection is lost, within one call and over several. The rules are those of RFC 9110 §13.1.5 (If-Range),
/// §14 (Range) and §15.3.7 (206).
@Suite(.timeLimit(.minutes(10)))
struct DownloadResumeTests {
    private static let size = 300_000
    private let content = RangeServer.content(size)
    private let changed = RangeServer.content(size, seed: 1_000_000)

    private func options(_ attempts: Int = 3) -> RequestOptions {
        RequestOptions { $0.retry = RetryPolicy(maximumAttempts: attempts, clock: TestClock(skips: true)) }
    }

    private func endPoint(_ server: MockServer, _ query: String = "") -> URLEndPoint {
        URLEndPoint(.get, URL(string: server.url.absoluteString + "/file" + query) ?? server.url)
    }

    /// Downloads a file over one session and returns its bytes.
    private func download(
        _ kind: SessionKind, _ endPoint: URLEndPoint, isKept: Bool = false, attempts: Int = 3, in folder: URL,
        _ check: (NetworkResponse) throws -> Void = { _ in }
    ) async throws -> Data {
        let file = folder.appendingPathComponent("a")
        let response = try await Router<URLEndPoint>(session: kind.make()).download(
            endPoint, to: file, keepingPartial: isKept, options: options(attempts))
        try check(response)
        return try Data(contentsOf: file)
    }

    @Test("after a lost connection a download resumes at the missing byte", arguments: SessionKind.allCases)
    func lostConnections(kind: SessionKind) async throws {
        let files = RangeServer(content: content)
        try await withFolder { folder in
            try await MockServer.run { server in
                server.enqueue(
                    files.whole.truncated(after: 100_000), files.part(100_000..<Self.size).truncated(after: 70_000))
                server.stub(.any) { files.answer($0) }
                let bytes = try await download(kind, endPoint(server), in: folder) { response in
                    #expect(response.statusCode == 206)
                    #expect(response.metrics.bytesReceived == Int64(Self.size))
                }
                #expect(bytes == content)
                #expect(server.requests.map { $0.headers["Range"] } == [nil, "bytes=100000-", "bytes=170000-"])
                #expect(server.requests.map { $0.headers["If-Range"] } == [nil, "\"v1\"", "\"v1\""])
                #expect(names(in: folder) == ["a"])
            }
        }
    }

    /// A response to a request for the rest that forces the file to restart.
    struct Restart: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let answer: @Sendable (RangeServer) -> MockResponse
        /// Whether the response has the whole file.
        var isWhole = false
    }

    private static let restarts = [
        Restart(testDescription: "Range ignored", answer: { $0.whole }, isWhole: true),
        Restart(
            testDescription: "another entity tag",
            answer: { RangeServer(content: $0.content, validators: ["ETag": "\"v2\""]).part(100_000..<size) }),
        Restart(testDescription: "another size", answer: { $0.part(100_000..<size, of: size + 1) }),
        Restart(testDescription: "another first byte", answer: { $0.part(99_999..<size) }),
        Restart(testDescription: "no Content-Range", answer: { .data($0.content[100_000...], statusCode: 206) }),
        Restart(
            testDescription: "a bad Content-Range",
            answer: {
                .data($0.content[100_000...], statusCode: 206).with("Content-Range", "bytes 100000-99999/300000")
            }),
        Restart(
            testDescription: "several parts",
            answer: { _ in
                .text("--x\r\n\r\n\r\n--x--", statusCode: 206).with("Content-Type", "multipart/byteranges; boundary=x")
            }),
        Restart(
            testDescription: "a compressed part",
            answer: { $0.part(100_000..<size).with("Content-Encoding", "identity, x") }),
        Restart(testDescription: "416", answer: { _ in .status(416, headers: ["Content-Range": "bytes */100"]) }),
    ]

    @Test(
        "a response other than the missing rest restarts the whole file",
        arguments: SessionKind.allCases, restarts)
    func restarted(kind: SessionKind, restart: Restart) async throws {
        let files = RangeServer(content: content)
        let now = RangeServer(content: changed, validators: ["ETag": "\"v2\""])
        try await withFolder { folder in
            try await MockServer.run { server in
                server.enqueue(
                    files.whole.truncated(after: 100_000), restart.isWhole ? now.whole : restart.answer(files))
                server.stub(.any) { now.answer($0) }
                // FoundationSession on Linux would refuse the made-up coding before the download sees it.
                guard restart.testDescription != "a compressed part" || kind == .curl else { return }
                let bytes = try await download(kind, endPoint(server), in: folder)
                #expect(bytes == changed)
                #expect(server.requests.count == (restart.isWhole ? 2 : 3))
                #expect(server.requests.last?.headers["Range"] == (restart.isWhole ? "bytes=100000-" : nil))
            }
        }
    }

    // RFC 9110 §15.3.7.3 combines parts of one strong validator, and §8.8.3.2 compares tags character by character.
    @Test("a rest with other bytes in its entity tag restarts the whole file")
    func otherBytesOfTag() async throws {
        let files = RangeServer(content: content, validators: ["ETag": "\"\u{E9}\""])
        let now = RangeServer(content: changed, validators: ["ETag": "\"e\u{301}\""])
        try await withFolder { folder in
            try await MockServer.run { server in
                server.enqueue(files.whole.truncated(after: 100_000), now.part(100_000..<changed.count))
                server.stub(.any) { now.answer($0) }
                let bytes = try await download(.allCases[0], endPoint(server), in: folder)
                #expect(bytes == changed)
                #expect(server.requests.count == 3)
            }
        }
    }

    @Test("an entity tag that begins with a combining mark is a strong validator")
    func markInTag() {
        let headers: HTTPHeaders = ["ETag": "\"\u{301}a\""]
        #expect(headers.strongValidator == "\"\u{301}a\"")
    }

    @Test("a 206 with fewer bytes than requested is followed by the rest", arguments: SessionKind.allCases)
    func shortParts(kind: SessionKind) async throws {
        let files = RangeServer(content: content)
        try await withFolder { folder in
            try await MockServer.run { server in
                server.enqueue(
                    files.whole.truncated(after: 100_000), files.part(100_000..<100_010), files.part(100_010..<250_000))
                server.stub(.any) { files.answer($0) }
                let bytes = try await download(kind, endPoint(server), in: folder)
                #expect(bytes == content)
                #expect(server.requests.count == 4)
            }
        }
    }

    @Test("a 206 with more bytes than announced throws and leaves no file", arguments: SessionKind.allCases)
    func longParts(kind: SessionKind) async throws {
        let files = RangeServer(content: content)
        let long = MockResponse.data(content[100_000...] + Data(count: 10), statusCode: 206).chunked(1_000).with(
            "Content-Range", "bytes 100000-299999/300000"
        ).with("ETag", "\"v1\"")
        try await withFolder { folder in
            try await MockServer.run { server in
                server.enqueue(files.whole.truncated(after: 100_000), long)
                let error = await #expect(throws: NetworkError.self) {
                    try await download(kind, endPoint(server), in: folder)
                }
                #expect(error?.code == .invalidResponse)
                #expect(names(in: folder) == [])
            }
        }
    }

    /// Validators and the expected `If-Range`, or nil without a strong validator.
    private static let conditions: [(HTTPHeaders, String?)] = [
        (["ETag": "\"a\""], "\"a\""), (["ETag": "W/\"a\""], nil), (["ETag": "a"], nil), ([:], nil),
        (
            ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Sun, 06 Nov 1994 08:49:38 GMT"],
            "Sun, 06 Nov 1994 08:49:37 GMT"
        ),
        (["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Sun, 06 Nov 1994 08:49:37 GMT"], nil),
        (["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"], nil),
        (["Last-Modified": "yesterday", "Date": "Sun, 06 Nov 1994 08:49:37 GMT"], nil),
        (
            [
                "ETag": "W/\"a\"", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT",
                "Date": "Sun, 06 Nov 1994 08:49:38 GMT",
            ], nil
        ),
    ]

    @Test(
        "only a strong validator resumes a file (RFC 9110 §8.8.2.2, §13.1.5)",
        arguments: conditions)
    func validators(fields: HTTPHeaders, condition: String?) async throws {
        let files = RangeServer(content: content, validators: fields)
        try await withFolder { folder in
            try await MockServer.run { server in
                server.enqueue(files.whole.truncated(after: 100_000))
                server.stub(.any) { files.answer($0) }
                let bytes = try await download(.allCases[0], endPoint(server), in: folder)
                #expect(bytes == content)
                #expect(server.requests[1].headers["If-Range"] == condition)
                #expect(server.requests[1].headers["Range"] == (condition == nil ? nil : "bytes=100000-"))
            }
        }
    }

    @Test("a POST download is sent once; a PUT download restarts the file")
    func otherMethods() async throws {
        let files = RangeServer(content: content)
        for (method, count) in [(HTTPMethod.post, 1), (.put, 2)] {
            try await withFolder { folder in
                try await MockServer.run { server in
                    server.enqueue(files.whole.truncated(after: 100_000), files.whole)
                    let endPoint = URLEndPoint(method, server.url, task: .requestBody(DataBody(Data("q".utf8))))
                    let file = folder.appendingPathComponent("a")
                    var code: NetworkError.Code?
                    do {
                        try await Router<URLEndPoint>().download(endPoint, to: file, options: options())
                    } catch let error as NetworkError {
                        code = error.code
                    }
                    #expect(server.requests.count == count)
                    #expect(server.requests.allSatisfy { $0.headers["Range"] == nil })
                    #expect(code == (count == 1 ? .truncatedBody : nil))
                    #expect(names(in: folder) == (count == 1 ? [] : ["a"]))
                }
            }
        }
    }

    @Test("a download gives up when each response has one byte or a new file")
    func hostile() async throws {
        let files = RangeServer(content: content)
        try await withFolder { folder in
            try await MockServer.run { server in
                let turn = Deliveries<Int>()
                server.stub(.any) { request in
                    turn.add(1)
                    return files.answer(request).truncated(after: 1)
                }
                let error = await #expect(throws: NetworkError.self) {
                    try await download(.allCases[0], endPoint(server), attempts: 5, in: folder)
                }
                #expect(error?.code == .truncatedBody)
                #expect(error?.attempts == 5)
                #expect(turn.all.count == 5)
            }
            try await MockServer.run { server in
                let turn = Deliveries<Int>()
                server.stub(.any) { request in
                    turn.add(1)
                    return RangeServer(content: content, validators: ["ETag": "\"\(turn.all.count)\""]).answer(request)
                        .truncated(after: 200_000)
                }
                let error = await #expect(throws: NetworkError.self) {
                    try await download(.allCases[0], endPoint(server), attempts: 5, in: folder)
                }
                #expect(error?.code == .truncatedBody)
                #expect(turn.all.count == 5)
            }
            // Correct bytes, but only one at a time.
            try await MockServer.run { server in
                server.stub(.any) { request in
                    guard let first = request.headers["Range"].flatMap({ Int($0.dropFirst(6).dropLast()) }) else {
                        return files.whole.truncated(after: 200_000)
                    }
                    return files.part(first..<first + 1)
                }
                let error = await #expect(throws: NetworkError.self) {
                    try await download(.allCases[0], endPoint(server), attempts: 5, in: folder)
                }
                #expect(error?.code == .invalidResponse)
                #expect(server.requests.count < 10)
            }
            // Parts from a wrong offset, alternating with a truncated beginning.
            try await MockServer.run { server in
                server.stub(.any) { request in
                    request.headers["Range"] == nil ? files.whole.truncated(after: 200_000) : files.part(0..<10)
                }
                let error = await #expect(throws: NetworkError.self) {
                    try await download(.allCases[0], endPoint(server), attempts: 5, in: folder)
                }
                #expect(error?.code == .invalidResponse)
                #expect(server.requests.count == 12)
            }
            #expect(names(in: folder) == [])
        }
    }

    @Test("the progress follows a file that shrinks, at last to nothing", arguments: SessionKind.allCases)
    func shrinks(kind: SessionKind) async throws {
        try await withFolder { folder in
            try await MockServer.run { server in
                for size in [300_000, 200_000, 0] {
                    let files = RangeServer(content: content.prefix(size), validators: ["ETag": "\"\(size)\""])
                    server.enqueue(size > 0 ? files.whole.truncated(after: size - 100_000) : files.whole)
                }
                let (file, progress) = (folder.appendingPathComponent("a"), TransferProgress())
                try await Router<URLEndPoint>(session: kind.make()).download(
                    endPoint(server), to: file, options: options(), progress: progress)
                #expect(try Data(contentsOf: file).isEmpty)
                #expect(progress.current.fraction == 1 && progress.foundationProgress.totalUnitCount == 0)
            }
        }
    }

    // MARK: Over several calls

    @Test("the error of a download does not name the kept bytes of another URL")
    func keptOfAnotherURL() async throws {
        let session = StubSession(
            RangeServer(content: content).whole.truncated(after: 100_000), .failure(.cannotConnect))
        let router = Router<URLEndPoint>(session: session)
        try await withFolder { folder in
            let urls = [(URL(text: "https://example.com/one"), true), (URL(text: "https://example.com/other"), false)]
            for (url, isNamed) in urls {
                let endPoint = URLEndPoint(.get, url)
                let error = await #expect(throws: NetworkError.self) {
                    try await router.download(
                        endPoint, to: folder.appendingPathComponent("a"), keepingPartial: true, options: options(1))
                }
                let reason = error?.reason ?? ""
                #expect(reason.contains("are kept for the next call") == isNamed)
            }
        }
    }

    @Test("the next call resumes a kept partial file, which has no secrets", arguments: SessionKind.allCases)
    func kept(kind: SessionKind) async throws {
        let files = RangeServer(content: content)
        try await withFolder { folder in
            try await MockServer.run { server in
                server.enqueue(files.whole.truncated(after: 100_000))
                server.stub(.any) { files.answer($0) }
                let endPoint = endPoint(server, "?api_key=hush&page=2")
                let error = await #expect(throws: NetworkError.self) {
                    try await download(kind, endPoint, isKept: true, attempts: 1, in: folder)
                }
                #expect(error?.code == .truncatedBody)
                #expect(error?.reason?.hasSuffix("; 100000 bytes are kept for the next call") == true)
                #expect(names(in: folder) == [".a.download", ".a.download.json"])
                let sidecar = try Data(contentsOf: folder.appendingPathComponent(".a.download.json"))
                #expect(!String(decoding: sidecar, as: UTF8.self).contains("hush"))
                #expect(try Data(contentsOf: folder.appendingPathComponent(".a.download")) == content.prefix(100_000))
                let bytes = try await download(kind, endPoint, isKept: true, in: folder) { response in
                    #expect(response.metrics.bytesReceived == Int64(Self.size - 100_000))
                }
                #expect(bytes == content)
                #expect(server.requests[1].headers["Range"] == "bytes=100000-")
                #expect(names(in: folder) == ["a"])
            }
        }
    }

    @Test("a kept download without bytes leaves no files")
    func keptNothing() async throws {
        let session = StubSession(.status(500))
        try await withFolder { folder in
            let error = await #expect(throws: NetworkError.self) {
                try await Router<URLEndPoint>(session: session).download(
                    URLEndPoint(.get, URL(text: "http://h.test/")), to: folder.appendingPathComponent("a"),
                    keepingPartial: true, options: options(1))
            }
            #expect(error?.statusCode == 500)
            #expect(names(in: folder) == [])
        }
    }

    @Test("a kept download without a validator leaves no files", arguments: SessionKind.allCases)
    func keptWithoutValidator(kind: SessionKind) async throws {
        let files = RangeServer(content: content, validators: [:])
        try await withFolder { folder in
            try await MockServer.run { server in
                server.enqueue(files.whole.truncated(after: 100_000))
                let error = await #expect(throws: NetworkError.self) {
                    try await download(kind, endPoint(server), isKept: true, attempts: 1, in: folder)
                }
                #expect(error?.code == .truncatedBody)
                #expect(names(in: folder) == [])
            }
        }
    }

    @Test("a kept download other than GET leaves no files, and no GET resumes it")
    func keptPost() async throws {
        let files = RangeServer(content: content)
        try await withFolder { folder in
            try await MockServer.run { server in
                server.enqueue(files.whole.truncated(after: 100_000))
                server.stub(.any) { files.answer($0) }
                let url = URL(string: server.url.absoluteString + "/file") ?? server.url
                let post = URLEndPoint(.post, url, task: .requestBody(DataBody(Data("q".utf8))))
                let error = await #expect(throws: NetworkError.self) {
                    try await download(.allCases[0], post, isKept: true, attempts: 1, in: folder)
                }
                #expect(error?.code == .truncatedBody)
                #expect(error?.reason?.contains("kept") == false)
                #expect(names(in: folder) == [])
                let bytes = try await download(.allCases[0], endPoint(server), isKept: true, in: folder)
                #expect(bytes == content)
                #expect(server.requests.map { $0.headers["Range"] } == [nil, nil])
            }
        }
    }

    /// Sidecars of a partial file that force the download to start with the first byte.
    private static let remains: [(String, String?)] = [
        ("no sidecar", nil), ("a damaged sidecar", "{\"url\":"), ("an empty one", ""),
        ("of another URL", #"{"url":"http://h.test/other","validator":"\"v1\"","size":300000}"#),
    ]

    @Test("a partial file of unknown origin is not resumed", arguments: remains)
    func leftovers(name: String, sidecar: String?) async throws {
        let files = RangeServer(content: content)
        try await withFolder { folder in
            try await MockServer.run { server in
                server.stub(.any) { files.answer($0) }
                try Data(count: 50_000).write(to: folder.appendingPathComponent(".a.download"))
                try sidecar.map { try Data($0.utf8).write(to: folder.appendingPathComponent(".a.download.json")) }
                let bytes = try await download(.allCases[0], endPoint(server), isKept: true, in: folder)
                #expect(bytes == content)
                #expect(server.requests.map { $0.headers["Range"] } == [nil])
            }
        }
    }

    /// Validators, as JSON, and sizes that no download records.
    private static let impossible: [(String, Int64)] = [
        (#""\"v1\"""#, .min), (#""\"v1\"""#, -1), (#""\"v\u0001\"""#, 300_000), (#""a\r\nX-Y: z""#, 300_000),
        (#""""#, 300_000),
    ]

    @Test("a sidecar that no download wrote is not resumed", arguments: impossible)
    func impossibleSidecar(validator: String, size: Int64) async throws {
        let files = RangeServer(content: content)
        try await withFolder { folder in
            try await MockServer.run { server in
                server.stub(.any) { files.answer($0) }
                try Data(count: 50_000).write(to: folder.appendingPathComponent(".a.download"))
                let sidecar = #"{"url":"\#(server.url)/file","validator":\#(validator),"size":\#(size)}"#
                try Data(sidecar.utf8).write(to: folder.appendingPathComponent(".a.download.json"))
                let bytes = try await download(.allCases[0], endPoint(server), isKept: true, in: folder)
                #expect(bytes == content)
                #expect(server.requests.map { $0.headers["Range"] } == [nil])
            }
        }
    }

    @Test("an entity tag that no request can repeat restarts the file")
    func unrepeatableTag() async throws {
        try await withFolder { folder in
            try await MockServer.run { server in
                server.enqueue(
                    .raw("HTTP/1.1 200 OK\r\nETag: \"\u{1}\"\r\nContent-Length: 8\r\n\r\nabcd"), .text("abcdefgh"))
                let bytes = try await download(.allCases[0], endPoint(server), isKept: true, in: folder)
                #expect(bytes == Data("abcdefgh".utf8))
                #expect(server.requests.map { $0.headers["Range"] } == [nil, nil])
            }
        }
    }

    @Test("a download that gave up removes no later download's file")
    func discardedTwice() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("a")
            var first: PartialFile? = try PartialFile(for: file, isKept: true)
            first?.discard()
            let second = try PartialFile(for: file, isKept: true)
            try second.append(Data("new".utf8))
            first = nil
            try second.moveToDestination()
            #expect(try Data(contentsOf: file) == Data("new".utf8))
        }
    }

    @Test("a download whose kept file was removed leaves those of the next one", arguments: [false, true])
    func removedFile(isComplete: Bool) async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("a")
            let first = try PartialFile(for: file, isKept: true)
            try first.append(Data("old".utf8))
            try FileManager.default.removeItem(at: folder.appendingPathComponent(".a.download"))
            let second = try PartialFile(for: file, isKept: true)
            try second.record(PartialFile.Origin(url: "http://h.test/", validator: "\"v1\"", size: 3))
            try second.append(Data("ne".utf8))
            let error = #expect(throws: NetworkError.self) {
                guard isComplete else { return try first.restart() }
                try first.moveToDestination()
            }
            #expect(error?.code == .cannotWriteFile && error?.reason?.contains("was removed") == true)
            first.finish()
            #expect(names(in: folder) == [".a.download", ".a.download.json"])
            try second.append(Data("w".utf8))
            try second.moveToDestination()
            #expect(try Data(contentsOf: file) == Data("new".utf8))
            #expect(names(in: folder) == ["a"])
        }
    }

    @Test("a sidecar that cannot be read ends the download and keeps its bytes")
    func unreadableSidecar() async throws {
        try await withFolder { folder in
            let (file, sidecar) = (
                folder.appendingPathComponent(".a.download"), folder.appendingPathComponent(".a.download.json/in")
            )
            try content.write(to: file)
            try FileManager.default.createDirectory(at: sidecar, withIntermediateDirectories: true)
            let error = #expect(throws: NetworkError.self) {
                _ = try PartialFile(for: folder.appendingPathComponent("a"), isKept: true)
            }
            #expect(error?.code == .cannotWriteFile)
            #expect(error?.reason?.contains(".a.download.json\": ") == true)
            #expect(try Data(contentsOf: file) == content)
        }
    }

    @Test("a complete but unnamed file resumes at its last byte")
    func wholeButNameless() async throws {
        let files = RangeServer(content: content)
        try await withFolder { folder in
            try await MockServer.run { server in
                server.stub(.any) { files.answer($0) }
                try content.write(to: folder.appendingPathComponent(".a.download"))
                let sidecar = #"{"url":"\#(server.url)/file","validator":"\"v1\"","size":300000}"#
                try Data(sidecar.utf8).write(to: folder.appendingPathComponent(".a.download.json"))
                let bytes = try await download(.allCases[0], endPoint(server), isKept: true, in: folder)
                #expect(bytes == content)
                #expect(server.requests.map { $0.headers["Range"] } == ["bytes=299999-"])
                #expect(names(in: folder) == ["a"])
            }
        }
    }

    @Test("a second download to the same kept file is refused while one runs")
    func concurrent() async throws {
        let files = RangeServer(content: content)
        try await withFolder { folder in
            try await MockServer.run { server in
                server.enqueue(files.whole.stalled(after: 100_000), files.whole)
                let progress = TransferProgress()
                let file = folder.appendingPathComponent("a")
                let router = Router<URLEndPoint>()
                let endPoint = endPoint(server)
                let first = Task {
                    try await router.download(endPoint, to: file, keepingPartial: true, progress: progress)
                }
                for await update in progress where update.completed > 0 { break }
                let error = await #expect(throws: NetworkError.self) {
                    try await router.download(endPoint, to: file, keepingPartial: true)
                }
                #expect(error?.code == .cannotWriteFile)
                #expect(error?.reason?.contains("another download") == true)
                // A download to a separate temporary file is not affected.
                try await router.download(endPoint, to: file)
                #expect(try Data(contentsOf: file) == content)
                first.cancel()
                await #expect(throws: CancellationError.self) { try await first.value }
            }
        }
    }
}
