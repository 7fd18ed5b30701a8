@testable import SwitchboardStreams
import Foundation
import SwitchboardPlatform
import SwitchboardTesting
import Testing

import SwitchboardTestSupport
@testable import Switchboard

/// Uploads in pieces: tus 1.0.0, the IETF's draft, and container registries.
@Suite(.timeLimit(.minutes(10)))
struct ResumableUploadTests {
    private let content = RangeServer.content(1_000_003)
    private let digest = "sha256:" + String(repeating: "0", count: 64)

    private func upload(
        _ file: URL, to server: MockServer, _ dialect: UploadServer.Dialect, _ session: any NetworkSession,
        path: String = "/new", headers: HTTPHeaders = [:], state: URL? = nil, attempts: Int = 3,
        progress: TransferProgress? = nil
    ) async throws -> NetworkResponse {
        let endPoint = URLEndPoint(.post, URL(string: server.url.absoluteString + path) ?? server.url, headers: headers)
        let router = Router<URLEndPoint>(session: session)
        let options = RequestOptions {
            $0.retry = RetryPolicy(maximumAttempts: attempts, clock: TestClock(skips: true))
        }
        func send(_ flow: some UploadFlow) async throws -> NetworkResponse {
            try await router.upload(
                endPoint, from: file, by: flow, pieceSize: 400_000, stateFile: state, options: options,
                progress: progress)
        }
        switch dialect {
        case .tus: return try await send(.tus)
        case .ietf: return try await send(.ietf)
        case .registry: return try await send(RegistryUpload(digest: digest))
        }
    }

    private static let endPoint = URLEndPoint(.post, URL(text: "http://h.test/new"))
    private static var retries: RequestOptions {
        RequestOptions { $0.retry = RetryPolicy(clock: TestClock(skips: true)) }
    }

    private func withFile(
        _ content: Data = Data("abcd".utf8), _ body: (URL) async throws -> Void
    ) async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("a")
            try content.write(to: file)
            try await body(file)
        }
    }

    private func withServer(
        _ uploads: UploadServer, content: Data? = nil, _ body: (MockServer, URL, URL) async throws -> Void
    ) async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("a")
            try (content ?? self.content).write(to: file)
            try await MockServer.run { server in
                server.stub(.any) { uploads.answer($0) }
                try await body(server, file, folder.appendingPathComponent("state"))
            }
        }
    }

    @Test(
        "uploads a file in pieces, with the endpoint's headers and progress",
        arguments: SessionKind.allCases, UploadServer.Dialect.allCases)
    func whole(kind: SessionKind, dialect: UploadServer.Dialect) async throws {
        let uploads = UploadServer(dialect)
        try await withServer(uploads) { server, file, state in
            let updates = Deliveries<TransferProgress.Update>()
            let progress = TransferProgress { updates.add($0) }
            let response = try await upload(
                file, to: server, dialect, kind.make(), headers: ["X-Token": "t"], state: state, progress: progress)
            #expect(response.statusCode == (dialect == .registry ? 201 : 204))
            #expect(uploads.data == content)
            #expect(uploads.pieceCount == 3)
            #expect(server.requests.allSatisfy { $0.headers["X-Token"] == "t" })
            #expect(updates.all.last?.fraction == 1)
            #expect(updates.all.allSatisfy { $0.expected == 1_000_003 })
            #expect(names(in: state.deletingLastPathComponent()) == ["a"])
            let last = try #require(server.requests.last)
            switch dialect {
            case .tus: #expect(server.requests[0].headers["Upload-Length"] == "1000003")
            case .ietf:
                #expect(server.requests[1].headers["Upload-Complete"] == "?0")
                #expect(last.headers["Upload-Complete"] == "?1")
            case .registry:
                #expect(last.method == .put)
                #expect(last.target == "/uploads/1?_state=1000003&digest=\(digest)")
            }
        }
    }

    @Test(
        "a lost response resumes from the server's offset",
        arguments: SessionKind.allCases, UploadServer.Dialect.allCases)
    func losses(kind: SessionKind, dialect: UploadServer.Dialect) async throws {
        let uploads = UploadServer(
            dialect,
            mishaps: [
                0: .init(kept: 0), 1: .init(kept: 123_456), 2: .init(kept: .max),
                3: .init(kept: 5, answer: .status(503)),
            ])
        try await withServer(uploads) { server, file, _ in
            _ = try await upload(file, to: server, dialect, kind.make())
            #expect(uploads.data == content)
            #expect(uploads.uploadCount == 1)
        }
    }

    /// Values of `Upload-Limit`, and the sizes of the pieces of 250,000 bytes if 200,000 are preferred.
    private static let limits: [(String, [Int])] = [
        ("max-append-size=100000, max-age=60", [100_000, 100_000, 50_000]),
        ("max-size=1000000, min-append-size=220000;a=1, max-append-size=240000", [220_000, 30_000]),
        ("min-append-size=0, max-append-size=999999999999999", [200_000, 50_000]),
        // Invalid: another type, no value, and a contradiction.
        ("max-append-size=\"1\"", [200_000, 50_000]),
        ("max-append-size", [200_000, 50_000]),
        ("max-append-size=0", [200_000, 50_000]),
        ("max-append-size=10, min-append-size=11", [200_000, 50_000]),
        ("=", [200_000, 50_000]),
    ]

    @Test("the pieces of an IETF upload keep the limits of the server", arguments: limits)
    func pieceLimits(field: String, sizes: [Int]) async throws {
        try await withFile(RangeServer.content(250_000)) { file in
            let session = StubSession { request in
                guard request.method == .post else { return .status(204) }
                return .status(201, headers: ["Location": "/u", "Upload-Limit": field])
            }
            try await Router<URLEndPoint>(session: session).upload(
                Self.endPoint, from: file, by: .ietf, pieceSize: 200_000)
            let sent = try session.requests.dropFirst().map { try $0.body.encode().count }
            #expect(sent == sizes)
        }
    }

    @Test("an upload that lost its last response returns that of its offset")
    func lostEnd() async throws {
        try await withFile { file in
            let session = StubSession(
                Self.opened, .status(204, headers: ["Upload-Offset": "2"]), .close,
                .status(200, headers: ["Upload-Offset": "4"]).repeated())
            let response = try await Router<URLEndPoint>(session: session).upload(
                Self.endPoint, from: file, by: .tus, pieceSize: 2, options: Self.retries)
            #expect(session.requests.prefix(4).map(\.method) == [.post, .patch, .patch, .head])
            #expect(response.statusCode == 200 && response.request?.method == .head)
        }
    }

    @Test("a refused piece is sent again, also if any status is accepted")
    func anyStatus() async throws {
        try await withFile { file in
            let session = StubSession(
                Self.opened, .status(500),
                .status(204, headers: ["Upload-Offset": "0", "Upload-Complete": "?0"]),
                .status(201, headers: ["Upload-Offset": "4", "Upload-Complete": "?1"]))
            let response = try await Router<URLEndPoint>(session: session).upload(
                Self.endPoint, from: file, by: .ietf,
                options: RequestOptions {
                    $0.retry = RetryPolicy(clock: TestClock(skips: true))
                    $0.acceptedStatusCodes = .any
                })
            #expect(session.requests.map(\.method) == [.post, .patch, .head, .patch])
            #expect(response.statusCode == 201)
        }
    }

    @Test("pieces are not announced as compressed like the endpoint's own body", arguments: [true, false])
    func compressedBody(isOption: Bool) async throws {
        try await withFile { file in
            let session = StubSession(Self.opened, .status(200, headers: ["Upload-Offset": "4"], body: "end"))
            let json = JSONBody(["a": String(repeating: "b", count: 100)])
            let task = HTTPTask.requestBody(isOption ? json : GzipBody(json))
            let response = try await Router<URLEndPoint>(session: session).upload(
                URLEndPoint(.post, URL(text: "http://h.test/new"), task: task), from: file, by: .tus,
                options: RequestOptions {
                    $0.compressesBody = isOption
                    $0.streamsResponse = true
                })
            #expect(session.requests.map { $0.headers["Content-Encoding"] } == [nil, nil])
            #expect(response.text == "end")
        }
    }

    @Test("the creation has a custom idempotency key, each piece a unique one")
    func idempotencyKeys() async throws {
        try await withFile { file in
            for key in [IdempotencyKey("order-7"), .unique] {
                let session = StubSession(Self.opened, .status(204, headers: ["Upload-Offset": "4"]))
                let router = Router<URLEndPoint>(session: session, interceptors: [RetryPolicy()])
                try await router.upload(
                    Self.endPoint, from: file, by: .tus,
                    options: RequestOptions { $0.idempotencyKey = key })
                let keys = session.requests.map { $0.headers["Idempotency-Key"] }
                #expect(keys.count == 2)
                if key == .unique {
                    #expect(Set(keys.compactMap { $0 }).count == 2)
                } else {
                    #expect(keys == ["order-7", nil])
                }
            }
            let session = StubSession(Self.opened, .status(204, headers: ["Upload-Offset": "4"]))
            let headers: HTTPHeaders = ["Idempotency-Key": "order-8"]
            try await Router<URLEndPoint>(session: session).upload(
                URLEndPoint(.post, URL(text: "http://h.test/new"), headers: headers), from: file, by: .tus)
            #expect(session.requests.map { $0.headers["Idempotency-Key"] } == ["order-8", nil])
        }
    }

    @Test("an IETF upload with all bytes is completed only if it is not", arguments: [true, false])
    func unfinishedEnd(isComplete: Bool) async throws {
        try await withFile { file in
            let session = StubSession(
                Self.opened, .status(500),
                .status(204, headers: ["Upload-Offset": "4", "Upload-Complete": isComplete ? "?1" : "?0"]),
                .status(201, headers: ["Upload-Offset": "4", "Upload-Complete": "?1"]))
            let response = try await Router<URLEndPoint>(session: session).upload(
                Self.endPoint, from: file, by: .ietf, options: Self.retries)
            #expect(session.requests.map(\.method) == [.post, .patch, .head, isComplete ? .head : .patch])
            #expect(response.statusCode == 201)
            guard let last = session.requests.last, !isComplete else { return }
            #expect(last.headers["Upload-Offset"] == "4" && last.headers["Upload-Complete"] == "?1")
            #expect(last.body.isEmpty)
        }
    }

    @Test("an IETF upload that is never completed is an error")
    func neverComplete() async throws {
        try await withFile { file in
            let session = StubSession { request in
                switch request.method {
                case .post: Self.opened
                case .head: .status(204, headers: ["Upload-Offset": "4", "Upload-Complete": "?0"])
                default: .status(500)
                }
            }
            let error = await #expect(throws: NetworkError.self) {
                try await Router<URLEndPoint>(session: session).upload(
                    Self.endPoint, from: file, by: .ietf, options: Self.retries)
            }
            #expect(error?.statusCode == 500)
            #expect(session.requests.count < 10)
        }
    }

    @Test(
        "a later call resumes from its state, but not for another file or URL",
        arguments: UploadServer.Dialect.allCases)
    func kept(dialect: UploadServer.Dialect) async throws {
        let uploads = UploadServer(dialect, mishaps: [1: .init(kept: 100, answer: .status(400))])
        try await withServer(uploads) { server, file, state in
            let session = DefaultSession.shared
            let error = await #expect(throws: NetworkError.self) {
                try await upload(file, to: server, dialect, session, state: state)
            }
            #expect(error?.statusCode == 400)
            let permissions = try FileManager.default.attributesOfItem(atPath: state.path)[.posixPermissions] as? Int
            #expect(permissions == 0o600)
            let kept = try Data(contentsOf: state)
            _ = try await upload(file, to: server, dialect, session, state: state)
            #expect(uploads.data == content)
            #expect(uploads.uploadCount == 1)
            #expect(!FileManager.default.fileExists(atPath: state.path))
            // Another endpoint or file opens a new upload from the first byte.
            try PrivateFile.write(kept, to: state)
            _ = try await upload(file, to: server, dialect, session, path: "/other", state: state)
            #expect(uploads.uploadCount == 2)
            try PrivateFile.write(kept, to: state)
            try Data("changed".utf8).write(to: file)
            _ = try await upload(file, to: server, dialect, session, state: state)
            #expect(uploads.uploadCount == 3)
            #expect(uploads.data == Data("changed".utf8))
            // A damaged state also opens a new upload.
            try PrivateFile.write(Data("{".utf8), to: state)
            _ = try await upload(file, to: server, dialect, session, state: state)
            #expect(uploads.uploadCount == 4)
        }
    }

    @Test("an upload that the server no longer has starts again", arguments: UploadServer.Dialect.allCases)
    func forgotten(dialect: UploadServer.Dialect) async throws {
        let uploads = UploadServer(dialect, mishaps: [1: .init(kept: 100, answer: .status(404))])
        try await withServer(uploads) { server, file, _ in
            _ = try await upload(file, to: server, dialect, DefaultSession.shared)
            #expect(uploads.data == content)
            #expect(uploads.uploadCount == 2)
        }
    }

    @Test("an empty file is uploaded", arguments: UploadServer.Dialect.allCases)
    func empty(dialect: UploadServer.Dialect) async throws {
        let uploads = UploadServer(dialect)
        try await withServer(uploads, content: Data()) { server, file, _ in
            _ = try await upload(file, to: server, dialect, DefaultSession.shared)
            #expect(uploads.uploadCount == 1)
            #expect(uploads.data.isEmpty)
            if dialect == .ietf { #expect(server.requests.last?.headers["Upload-Complete"] == "?1") }
        }
    }

    /// The responses of servers that break the protocol, in order. Each must end as an error.
    private static let breaches: [(String, [MockResponse])] = [
        ("no Location", [.status(201)]),
        ("a Location that is none", [.status(201, headers: ["Location": "ftp://h.test/"])]),
        ("more bytes than there are", [opened, .status(204, headers: ["Upload-Offset": "99999999"])]),
        ("a number that is none", [opened, .status(204, headers: ["Upload-Offset": "-1"]), .status(204)]),
        ("nothing is ever taken", [opened, .status(204, headers: ["Upload-Offset": "0"]).repeated()]),
        (
            "a byte at a time is taken",
            [opened] + (1...20).map { .status(204, headers: ["Upload-Offset": "\($0)"]) }
        ),
        ("it never says", [opened, .status(204), .status(204)]),
        ("it forgets again and again", [opened, .status(404), opened, .status(404), opened, .status(404)]),
    ]
    private static var opened: MockResponse { .status(201, headers: ["Location": "/uploads/1"]) }

    @Test("a server that breaks the protocol is an error, not an endless loop", arguments: breaches)
    func broken(name: String, answers: [MockResponse]) async throws {
        try await withFile(content) { file in
            let session = StubSession()
            for answer in answers { session.enqueue(answer) }
            let error = await #expect(throws: NetworkError.self) {
                try await Router<URLEndPoint>(session: session).upload(
                    Self.endPoint, from: file, by: .tus, options: Self.retries)
            }
            #expect(
                error?.code == (name.contains("forgets") ? .notFound : .invalidResponse), "\(error.debugDescription)")
            #expect(error?.url != nil)
            #expect(session.requests.count < 10)
        }
    }

    @Test("another origin gets no headers of the first; https to http is refused")
    func origins() async throws {
        try await withFile(Data("abc".utf8)) { file in
            let session = StubSession(
                .status(201, headers: ["Location": "https://other.test/u"]),
                .status(204, headers: ["Upload-Offset": "3"]), .status(201, headers: ["Location": "http://h.test/u"]))
            let endPoint = URLEndPoint(
                .post, URL(text: "https://h.test/new"), headers: ["Authorization": "Bearer hush", "X-A": "1"])
            let router = Router<URLEndPoint>(session: session)
            try await router.upload(endPoint, from: file, by: TusUpload(metadata: ["filename": "ä.txt", "type": "x"]))
            #expect(session.requests.map { $0.headers["Authorization"] } == ["Bearer hush", nil])
            #expect(session.requests.map { $0.headers["X-A"] } == ["1", nil])
            // Keys and their values in Base64, separated by commas (tus 1.0.0, Upload-Metadata).
            #expect(session.requests[0].headers["Upload-Metadata"] == "filename w6QudHh0,type eA==")
            let error = await #expect(throws: NetworkError.self) {
                try await router.upload(endPoint, from: file, by: .tus)
            }
            #expect(error?.code == .redirectRefused)
        }
    }

    @Test("a missing or changing file is an error that names it")
    func files() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("a")
            let session = StubSession { request in
                if request.method == .patch { try Data("longer than before".utf8).write(to: file) }
                return .status(201, headers: ["Location": "/u", "Upload-Offset": request.method == .patch ? "1" : "0"])
            }
            let router = Router<URLEndPoint>(session: session)
            for isThere in [false, true] {
                if isThere { try Data("abc".utf8).write(to: file) }
                let error = await #expect(throws: NetworkError.self) {
                    try await router.upload(Self.endPoint, from: file, by: .tus, pieceSize: 1)
                }
                #expect(error?.code == (isThere ? .encodingFailed : .unreadableFile))
                #expect(error?.reason?.contains(file.path) == true)
            }
            #expect(session.requests.count == 2)
        }
    }

    @Test("common parameters are no bytes of an upload")
    func commonParameters() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("a")
            let session = StubSession { request in
                request.method == .post ? Self.opened : .status(204)
            }
            for location in [nil, CommonParameters.Location.body] {
                let router = Router<URLEndPoint>(
                    session: session, interceptors: [CommonParameters(["client": "app"], in: location)])
                for content in ["", "abcd"] {
                    try Data(content.utf8).write(to: file)
                    try await router.upload(
                        Self.endPoint, from: file, by: .ietf)
                    let sent = session.requests.suffix(2)
                    #expect(try sent.map { try $0.body.encode() } == [Data(), Data(content.utf8)])
                    #expect(sent.map { $0.url?.query } == ["client=app", "client=app"])
                }
            }
        }
    }

    @Test("a file that changes while its last piece is sent is an error", arguments: [true, false])
    func changedLastPiece(isAnswered: Bool) async throws {
        try await withFile(Data("abc".utf8)) { file in
            let session = StubSession { request in
                guard request.method != .post else { return Self.opened }
                if request.method == .patch {
                    try Data("longer than before".utf8).write(to: file)
                    guard isAnswered else { return .close }
                }
                return .status(204, headers: ["Upload-Offset": "3"])
            }
            let error = await #expect(throws: NetworkError.self) {
                try await Router<URLEndPoint>(session: session).upload(
                    Self.endPoint, from: file, by: .tus, options: Self.retries)
            }
            #expect(error?.code == .encodingFailed)
        }
    }

    @Test("a state of a symbolic link does not resume if its file has changed")
    func changedBehindLink() async throws {
        try await withFolder { folder in
            let (file, link) = (folder.appendingPathComponent("a"), folder.appendingPathComponent("link"))
            let state = folder.appendingPathComponent("state")
            try Data("abcd".utf8).write(to: file)
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
            let session = StubSession(
                Self.opened, .status(204, headers: ["Upload-Offset": "2"]), .status(400),
                .status(201, headers: ["Location": "/uploads/2"]), .status(204, headers: ["Upload-Offset": "2"]),
                .status(204, headers: ["Upload-Offset": "4"]))
            func upload() async throws {
                try await Router<URLEndPoint>(session: session).upload(
                    Self.endPoint, from: link, by: .tus, pieceSize: 2,
                    stateFile: state)
            }
            await #expect(throws: NetworkError.self) { try await upload() }
            try Data("efgh".utf8).write(to: file)
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1_000_000_000)], ofItemAtPath: file.path)
            try await upload()
            #expect(session.requests.dropFirst(3).map(\.method) == [.post, .patch, .patch])
        }
    }

    @Test("an empty file is uploaded by the IETF's draft also without retries")
    func emptyOnce() async throws {
        try await withFile(Data()) { file in
            let session = StubSession(Self.opened, .status(204, headers: ["Upload-Offset": "0"]))
            let response = try await Router<URLEndPoint>(session: session).upload(
                Self.endPoint, from: file, by: .ietf,
                options: RequestOptions { $0.retry = .never })
            #expect(session.requests.map(\.method) == [.post, .patch])
            #expect(response.statusCode == 204 && response.attempts == 1)
        }
    }

    @Test("a piece whose 201 has no offset is followed by the question for it")
    func createdPiece() async throws {
        try await withFile { file in
            let session = StubSession { request in
                switch request.method {
                case .post: Self.opened
                case .head: .status(200, headers: ["Upload-Offset": "4"])
                default: request.headers["Upload-Offset"] == "0" ? .status(201) : .status(409)
                }
            }
            try await Router<URLEndPoint>(session: session).upload(
                Self.endPoint, from: file, by: .tus, options: Self.retries)
            #expect(session.requests.map(\.method) == [.post, .patch, .head])
        }
    }

    @Test("the status of another request does not restart the upload")
    func otherStatus() async throws {
        try await withFolder { folder in
            let (file, state) = (folder.appendingPathComponent("a"), folder.appendingPathComponent("state"))
            try Data("abcd".utf8).write(to: file)
            let isGone = Protected(false)
            let tokens = Router<URLEndPoint>(session: StubSession { _ in .status(isGone.value ? 404 : 204) })
            let session = StubSession { request in
                if request.method == .patch { isGone.withLock { $0 = true } }
                return request.method == .post ? Self.opened : .status(500)
            }
            let router = Router<URLEndPoint>(
                session: session,
                interceptors: [
                    CommonHeaders {
                        try await tokens.response(for: URLEndPoint(.get, URL(text: "http://t.test/")))
                        return [:]
                    }
                ])
            let error = await #expect(throws: NetworkError.self) {
                try await router.upload(
                    Self.endPoint, from: file, by: .tus, stateFile: state, options: Self.retries)
            }
            #expect(error?.statusCode == 404 && error?.url?.host == "t.test")
            #expect(FileManager.default.fileExists(atPath: state.path))
        }
    }

    @Test("a piece size below one is refused before sending", arguments: [0, -1])
    func piecesOfNothing(size: Int64) async throws {
        try await withFile(content) { file in
            let session = StubSession()
            let error = await #expect(throws: NetworkError.self) {
                try await Router<URLEndPoint>(session: session).upload(
                    Self.endPoint, from: file, by: .tus, pieceSize: size)
            }
            #expect(error?.code == .invalidRequest)
            #expect(session.requests.isEmpty)
        }
    }

    @Test("a range of a file is a body; a range beyond it is an error")
    func parts() async throws {
        try await withFile(content) { file in
            let body = FileBody(file, range: 300_000..<900_000)
            #expect(body.length == 600_000)
            #expect(try body.encode() == content[300_000..<900_000])
            var streamed = Data()
            for try await chunk in try body.makeStream() { streamed += chunk }
            #expect(streamed == content[300_000..<900_000])
            for range in [-1..<5, 0..<1_000_004] as [Range<Int64>] {
                #expect(FileBody(file, range: range).length == nil)
                let error = #expect(throws: NetworkError.self) { try FileBody(file, range: range).makeStream() }
                #expect(error?.code == .unreadableFile)
            }
        }
    }
}
