import SwitchboardPlatform
import Foundation
import SwitchboardTesting
import SwitchboardStreams
import Testing

import SwitchboardTestSupport
@testable import Switchboard

/// Uploads in pieces to a server that loses data or refuses the end.
@Suite(.timeLimit(.minutes(10)))
struct UploadRestartTests {
    /// Sends a file in pieces of 100,000 bytes, with at most three attempts in a row.
    private func upload(
        _ content: Data, over session: any NetworkSession, to url: URL, by flow: some UploadFlow = .tus,
        query: @escaping @Sendable () -> String = { "" }
    ) async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("a")
            try content.write(to: file)
            let options = RequestOptions {
                $0.retry = RetryPolicy(maximumAttempts: 3, clock: TestClock(skips: true))
            }
            try await Router<Uploads>(session: session).upload(
                Uploads(url: url, query: query), from: file, by: flow, pieceSize: 100_000, options: options)
        }
    }

    @Test("a last request refused three times ends the upload", arguments: [500, 404, 403])
    func refusedEnd(status: Int) async throws {
        let count = Protected(0)
        let session = StubSession { request in
            // This response ends the upload if no policy does.
            guard count.swap(count.value + 1) < 60 else { return .status(400) }
            switch request.method {
            case .post: return .status(202, headers: ["Location": "/u"])
            case .put: return .status(status)
            default: return .status(204, headers: ["Range": "0-2"])
            }
        }
        let error = await #expect(throws: NetworkError.self) {
            try await upload(
                Data("abc".utf8), over: session, to: URL(text: "http://h.test/"),
                by: RegistryUpload(digest: "sha256:0"))
        }
        #expect(error?.statusCode == status)
        #expect(session.requests.count { $0.method == .put } == 3)
    }

    @Test("an error in place of the result ends a complete upload", arguments: [409, 500, 403, 404])
    func refusedResult(status: Int) async throws {
        try await withFolder { folder in
            let (file, state) = (folder.appendingPathComponent("a"), folder.appendingPathComponent("state"))
            try Data("abc".utf8).write(to: file)
            let session = StubSession { request in
                switch request.method {
                case .post: return .status(201, headers: ["Location": "/u"])
                case .patch: return .status(status, headers: ["Upload-Complete": "?1"], body: "taken")
                default: return .status(204, headers: ["Upload-Offset": "3", "Upload-Complete": "?1"])
                }
            }
            let options = RequestOptions {
                $0.retry = RetryPolicy(maximumAttempts: 3, clock: TestClock(skips: true))
            }
            let error = await #expect(throws: NetworkError.self) {
                try await Router<URLEndPoint>(session: session).upload(
                    URLEndPoint(.post, URL(text: "http://h.test/new")), from: file, by: .ietf, stateFile: state,
                    options: options)
            }
            #expect(error?.statusCode == status)
            #expect(error?.response?.text == "taken")
            #expect(session.requests.map(\.method) == [.post, .patch])
            #expect(!FileManager.default.fileExists(atPath: state.path))
        }
    }

    @Test("a policy that adds keys does not send a refused last piece again")
    func refusedResultWithKey() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("a")
            try Data("abc".utf8).write(to: file)
            let isSent = Protected(false)
            let session = StubSession { request in
                switch request.method {
                case .post: return .status(201, headers: ["Location": "/u"])
                case .patch where isSent.swap(true):
                    return .status(409, headers: ["Upload-Offset": "3", "Upload-Complete": "?0"])
                case .patch: return .status(500, headers: ["Upload-Complete": "?1"])
                default: return .status(204, headers: ["Upload-Offset": "3", "Upload-Complete": "?1"])
                }
            }
            var policy = RetryPolicy(clock: TestClock(skips: true))
            policy.addsIdempotencyKeys = true
            let router = Router<URLEndPoint>(session: session, interceptors: [policy])
            let error = await #expect(throws: NetworkError.self) {
                try await router.upload(
                    URLEndPoint(.post, URL(text: "http://h.test/new")), from: file, by: .ietf)
            }
            #expect(error?.statusCode == 500)
            #expect(session.requests.map(\.method) == [.post, .patch])
            #expect(session.requests.last?.headers["Idempotency-Key"] != nil)
        }
    }

    @Test("the Location of the result is not stored as that of the upload")
    func locationOfResult() async throws {
        try await withFolder { folder in
            let (file, state) = (folder.appendingPathComponent("a"), folder.appendingPathComponent("state"))
            try Data("abc".utf8).write(to: file)
            let session = StubSession { request in
                guard request.method == .patch else { return .status(201, headers: ["Location": "/u"]) }
                // A folder in place of the state cannot be replaced.
                try FileManager.default.removeItem(at: state)
                try FileManager.default.createDirectory(at: state, withIntermediateDirectories: false)
                return .status(201, headers: ["Location": "/videos/5", "Upload-Complete": "?1"])
            }
            let response = try await Router<URLEndPoint>(session: session).upload(
                URLEndPoint(.post, URL(text: "http://h.test/new")), from: file, by: .ietf, stateFile: state)
            #expect(response.statusCode == 201)
        }
    }

    @Test("a creation refused by a conflict is sent once", arguments: [409, 416, 423])
    func refusedCreation(status: Int) async throws {
        let session = StubSession { _ in .status(status) }
        let error = await #expect(throws: NetworkError.self) {
            try await upload(Data("abc".utf8), over: session, to: URL(text: "http://h.test/"))
        }
        #expect(error?.statusCode == status)
        #expect(session.requests.count == 1)
    }

    @Test("an upload forgotten after many pieces starts again and ends", arguments: UploadServer.Dialect.allCases)
    func forgottenLate(dialect: UploadServer.Dialect) async throws {
        let content = RangeServer.content(950_000)
        let uploads = UploadServer(dialect, mishaps: [7: .init(kept: 100, answer: .status(404))])
        try await MockServer.run { server in
            server.stub(.any) { uploads.answer($0) }
            switch dialect {
            case .tus: try await upload(content, over: DefaultSession.shared, to: server.url)
            case .ietf: try await upload(content, over: DefaultSession.shared, to: server.url, by: .ietf)
            case .registry:
                let flow = RegistryUpload(digest: "sha256:0")
                try await upload(content, over: DefaultSession.shared, to: server.url, by: flow)
            }
        }
        #expect(uploads.data == content)
        #expect(uploads.uploadCount == 2)
    }

    /// A server of tus may answer HEAD with 403 if it has no such upload. The protocol says nothing like that of PATCH.
    @Test("a forbidden piece does not restart the upload, unless its offset is forbidden", arguments: [false, true])
    func forbiddenPiece(isGone: Bool) async throws {
        let session = StubSession { request in
            switch (request.method, request.headers["Upload-Offset"]) {
            case (.post, _): .status(201, headers: ["Location": "/u"])
            case (.patch, "0"): .status(204, headers: ["Upload-Offset": "100000"])
            case (.patch, _): .status(403)
            default: isGone ? .status(403) : .status(200, headers: ["Upload-Offset": "100000"])
            }
        }
        let failure = await #expect(throws: NetworkError.self) {
            try await upload(Data(count: 200_000), over: session, to: URL(text: "http://h.test/"))
        }
        #expect(failure?.statusCode == 403)
        #expect(session.requests.count { $0.method == .post } == (isGone ? 3 : 1))
        #expect(session.requests.count { $0.headers["Upload-Offset"] == "100000" } == 3)
    }

    @Test("the state of an upload that expired is removed, also without retries", arguments: [404, 410])
    func expired(status: Int) async throws {
        try await withFolder { folder in
            let (file, state) = (folder.appendingPathComponent("a"), folder.appendingPathComponent("state"))
            try Data("abc".utf8).write(to: file)
            let session = StubSession(
                .status(201, headers: ["Location": "/1"]), .status(500), .status(status),
                .status(201, headers: ["Location": "/2"]), .status(204, headers: ["Upload-Offset": "3"]))
            func upload() async throws {
                try await Router<URLEndPoint>(session: session).upload(
                    URLEndPoint(.post, URL(text: "http://h.test/new")), from: file, by: .tus, stateFile: state,
                    options: RequestOptions { $0.retry = .never })
            }
            await #expect(throws: NetworkError.self) { try await upload() }
            let failure = await #expect(throws: NetworkError.self) { try await upload() }
            #expect(failure?.statusCode == status)
            try await upload()
            #expect(session.requests.map(\.method) == [.post, .patch, .head, .post, .patch])
        }
    }

    @Test("resumes from the offset of a server that lost data")
    func rolledBack() async throws {
        let content = RangeServer.content(950_000)
        let lost = Protected(false)
        let held = Protected(0)
        let session = StubSession { request in
            switch request.method {
            case .post: return .status(201, headers: ["Location": "/u"])
            case .patch where request.headers["Upload-Offset"] == "800000" && !lost.swap(true):
                held.withLock { $0 = 100_000 }
                return .status(409)
            case .patch:
                guard request.headers["Upload-Offset"] == String(held.value) else { return .status(409) }
                let length = try request.body.encode().count
                held.withLock { $0 += length }
                return .status(204, headers: ["Upload-Offset": String(held.value)])
            default: return .status(204, headers: ["Upload-Offset": String(held.value)])
            }
        }
        try await upload(content, over: session, to: URL(text: "http://h.test/"))
        #expect(held.value == content.count)
    }

    @Test("an endpoint with a new URL for each request is one upload")
    func changingURL() async throws {
        let content = RangeServer.content(250_000)
        let uploads = UploadServer(.tus)
        let number = Protected(0)
        try await MockServer.run { server in
            server.stub(.any) { request in
                server.requests.count > 60 ? .status(400) : uploads.answer(request)
            }
            try await upload(content, over: DefaultSession.shared, to: server.url) {
                "?time=\(number.swap(number.value + 1))"
            }
        }
        #expect(uploads.data == content)
        #expect(uploads.uploadCount == 1)
    }
}

/// The endpoint that opens uploads.
private struct Uploads: EndPointType {
    let url: URL
    let query: @Sendable () -> String
    var baseURL: URL { url }
    var path: String { "new" + query() }
    var httpMethod: HTTPMethod { .post }
    var task: HTTPTask { .request }
    var headers: HTTPHeaders? { nil }
}
