@testable import SwitchboardStreams
import Foundation
import SwitchboardPlatform
import SwitchboardTesting
import Testing

import SwitchboardTestSupport
@testable import Switchboard

/// The credentials of an upload whose URL another origin chose.
@Suite(.timeLimit(.minutes(10)))
struct UploadOriginTests {
    private let endPoint = URLEndPoint(.post, URL(text: "https://api.test/new"), headers: ["X-Session": "s"])
    private let settings = "https://api.test/admin/settings"

    private func upload(
        _ session: StubSession, _ folder: URL, _ flow: some UploadFlow, state: URL? = nil, size: Int64 = 2
    ) async throws {
        let file = folder.appendingPathComponent("a")
        if !FileManager.default.fileExists(atPath: file.path) { try Data("abcd".utf8).write(to: file) }
        let router = Router<URLEndPoint>(session: session, interceptors: [BearerAuth("t")])
        try await router.upload(
            endPoint, from: file, by: flow, pieceSize: size, stateFile: state,
            options: RequestOptions { $0.retry = RetryPolicy(maximumAttempts: 2, clock: TestClock(skips: true)) })
    }

    private func credentials(_ session: StubSession) -> [String?] {
        session.requests.map { ($0.headers["Authorization"] ?? "-") + ($0.headers["X-Session"] ?? "-") }
    }

    @Test("a Location from the upload's other origin gets no credentials")
    func movedByAnswer() async throws {
        try await withFolder { folder in
            let session = StubSession(
                .status(202, headers: ["Location": "https://evil.test/u"]),
                .status(202, headers: ["Location": settings, "Range": "0-1"]), .status(202, headers: ["Range": "0-3"]),
                .status(201))
            try await upload(session, folder, RegistryUpload(digest: "sha256:0"))
            #expect(session.requests.map(\.url?.host) == ["api.test", "evil.test", "api.test", "api.test"])
            #expect(credentials(session) == ["Bearer ts", "--", "--", "--"])
        }
    }

    @Test("a Location from a redirected opening gets no credentials")
    func movedByOpening() async throws {
        try await withFolder { folder in
            let session = StubSession(
                .redirect(to: "https://evil.test/new", statusCode: 307), .status(201, headers: ["Location": settings]),
                .status(204, headers: ["Upload-Offset": "4"]))
            try await upload(session, folder, .tus, size: 4)
            #expect(session.requests.map(\.url?.absoluteString).last == settings)
            #expect(credentials(session) == ["Bearer ts", "--", "--"])
        }
    }

    @Test("an upload keeps the user of its URL, unless another origin chose it")
    func user() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("a")
            try Data("abcd".utf8).write(to: file)
            let session = StubSession()
            let created = MockResponse.status(201, headers: ["Location": "https://api.test/u"])
            let sent = MockResponse.status(204, headers: ["Upload-Offset": "4"])
            session.enqueue(created, sent, .redirect(to: "https://evil.test/new", statusCode: 307), created, sent)
            let router = Router<URLEndPoint>(session: session)
            let endPoint = URLEndPoint(.post, URL(text: "https://anna:pw@api.test/new"))
            for _ in 1...2 { try await router.upload(endPoint, from: file, by: .tus) }
            #expect(session.requests.map(\.url?.user) == ["anna", "anna", "anna", nil, nil])
        }
    }

    @Test("two Location fields that differ open no upload")
    func twoLocations() async throws {
        try await withFolder { folder in
            let session = StubSession(.status(201, headers: ["Location": "/u", "Location": "/v"]))
            let error = await #expect(throws: NetworkError.self) { try await upload(session, folder, .tus, size: 4) }
            #expect(error?.code == .redirectRefused)
            #expect(session.requests.count == 1)
        }
    }

    @Test("a piece of any size ends at the end of the file")
    func largestPiece() async throws {
        try await withFolder { folder in
            let session = StubSession(
                .status(201, headers: ["Location": "/u", "Upload-Offset": "1"]),
                .status(204, headers: ["Upload-Offset": "4"]))
            try await upload(session, folder, .tus, size: .max)
            #expect(session.requests.last?.headers["Upload-Offset"] == "1")
            #expect(try session.requests.last?.body.encode() == Data("bcd".utf8))
        }
    }

    @Test("a Location of a redirected piece is relative to the answering URL")
    func relativePlace() async throws {
        try await withFolder { folder in
            let session = StubSession(
                .status(202, headers: ["Location": "/u"]), .redirect(to: "https://evil.test/u", statusCode: 307),
                .status(202, headers: ["Location": "/v", "Range": "0-3"]), .status(201))
            try await upload(session, folder, RegistryUpload(digest: "sha256:0"), size: 4)
            #expect(session.requests.last?.url?.absoluteString == "https://evil.test/v?digest=sha256:0")
            #expect(credentials(session) == ["Bearer ts", "Bearer ts", "--", "--"])
        }
    }

    @Test("a stored state records that another origin chose its URL")
    func keptState() async throws {
        try await withFolder { folder in
            let state = folder.appendingPathComponent("state")
            let first = StubSession(
                .redirect(to: "https://evil.test/new", statusCode: 307), .status(201, headers: ["Location": settings]),
                .status(400))
            await #expect(throws: NetworkError.self) { try await upload(first, folder, .tus, state: state, size: 4) }
            let second = StubSession(
                .status(200, headers: ["Upload-Offset": "0"]), .status(204, headers: ["Upload-Offset": "4"]))
            try await upload(second, folder, .tus, state: state, size: 4)
            #expect(second.requests.map(\.url?.absoluteString) == [settings, settings])
            #expect(credentials(second) == ["--", "--"])
        }
    }

    @Test("a state without the origin of its URL opens a new upload")
    func oldState() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("a")
            try Data("abcd".utf8).write(to: file)
            let mark = try file.sizeAndModification()
            let state = folder.appendingPathComponent("state")
            let text = """
                {"endPoint":"https://api.test/new","location":"\(settings)","length":4,"changed":\(mark.changed)}
                """
            try PrivateFile.write(Data(text.utf8), to: state)
            let session = StubSession(
                .status(201, headers: ["Location": "/u"]), .status(204, headers: ["Upload-Offset": "4"]))
            try await upload(session, folder, .tus, state: state, size: 4)
            #expect(session.requests.map(\.url?.path) == ["/new", "/u"])
        }
    }

    @Test("a stored URL that the endpoint must not use opens a new upload", arguments: ["http", "ftp"])
    func forbiddenState(scheme: String) async throws {
        try await withFolder { folder in
            let state = folder.appendingPathComponent("state")
            let first = StubSession(.status(201, headers: ["Location": "/u"]), .status(400))
            await #expect(throws: NetworkError.self) { try await upload(first, folder, .tus, state: state, size: 4) }
            let text = String(decoding: try Data(contentsOf: state), as: UTF8.self)
                .replacingOccurrences(of: #"https:\/\/api.test\/u"#, with: scheme + #":\/\/api.test\/u"#)
            #expect(text.contains(scheme + #":\/\/api.test\/u"#))
            try PrivateFile.write(Data(text.utf8), to: state)
            let second = StubSession(
                .status(201, headers: ["Location": "/v"]), .status(204, headers: ["Upload-Offset": "4"]))
            try await upload(second, folder, .tus, state: state, size: 4)
            #expect(second.requests.map(\.url?.path) == ["/new", "/v"])
        }
    }

    @Test("a Location of an upload is parsed like that of a redirect")
    func oddSlashes() async throws {
        try await withFolder { folder in
            let session = StubSession(
                .status(201, headers: ["Location": "https:///other.test/u"]),
                .status(204, headers: ["Upload-Offset": "4"]))
            try await upload(session, folder, .tus, size: 4)
            #expect(session.requests.last?.url?.absoluteString == "https://other.test/u")
            #expect(credentials(session) == ["Bearer ts", "--"])
        }
    }
}
