import Foundation
import SwitchboardTesting
import Testing

import SwitchboardTestSupport
@testable import Switchboard

/// Downloads that resume with parts whose `Content-Range` differs from the first response (RFC 9110 §14.4).
@Suite(.timeLimit(.minutes(10)))
struct DownloadPartTests {
    private let content = RangeServer.content(300_000)

    private func download(_ kind: SessionKind, _ server: MockServer, in folder: URL) async throws -> Data {
        let file = folder.appendingPathComponent("a")
        let options = RequestOptions { $0.retry = RetryPolicy(clock: TestClock(skips: true)) }
        try await Router<URLEndPoint>(session: kind.make()).download(
            URLEndPoint(.get, server.url), to: file, options: options)
        return try Data(contentsOf: file)
    }

    @Test("a part of a file of unknown length is followed by the rest", arguments: SessionKind.allCases)
    func partOfUnknownLength(kind: SessionKind) async throws {
        let files = RangeServer(content: content)
        try await withFolder { folder in
            try await MockServer.run { server in
                server.enqueue(
                    files.whole.chunked(50_000).truncated(after: 100_000), files.part(100_000..<200_000))
                server.stub(.any) { files.answer($0) }
                let bytes = try await download(kind, server, in: folder)
                #expect(bytes == content)
            }
        }
    }

    @Test("a part whose range has no size is followed by the rest")
    func partWithoutSize() async throws {
        let files = RangeServer(content: content)
        try await withFolder { folder in
            try await MockServer.run { server in
                server.enqueue(
                    files.whole.chunked(50_000).truncated(after: 100_000),
                    files.part(100_000..<200_000).with("Content-Range", "bytes 100000-199999/*"))
                server.stub(.any) { files.answer($0) }
                let bytes = try await download(.curl, server, in: folder)
                #expect(bytes == content)
            }
        }
    }

    @Test("a file of unknown length ends with a 416 of its size, or restarts")
    func unsatisfiableRange() async throws {
        let files = RangeServer(content: content.prefix(200_000))
        let cases: [(size: String, last: String?)] = [("200000", "bytes=199999-"), ("200001", nil), ("oops", nil)]
        for (size, last) in cases {
            try await withFolder { folder in
                try await MockServer.run { server in
                    server.enqueue(
                        files.whole.chunked(50_000).truncated(after: 100_000),
                        files.part(100_000..<200_000).with("Content-Range", "bytes 100000-199999/*"),
                        .status(416, headers: ["Content-Range": "bytes */\(size)"]))
                    server.stub(.any) { files.answer($0) }
                    let bytes = try await download(.curl, server, in: folder)
                    #expect(bytes == files.content)
                    #expect(server.requests.map { $0.headers["Range"] }.suffix(2) == ["bytes=200000-", last])
                }
            }
        }
    }

    @Test("a download whose further ranges are all a 416 ends with an error")
    func alwaysUnsatisfiable() async throws {
        let files = RangeServer(content: content)
        try await withFolder { folder in
            try await MockServer.run { server in
                server.stub(.any) { request in
                    request.headers["Range"] == nil
                        ? files.whole.chunked(50_000).truncated(after: 100_000)
                        : .status(416, headers: ["Content-Range": "bytes */100000"])
                }
                let error = await #expect(throws: NetworkError.self) {
                    _ = try await download(.curl, server, in: folder)
                }
                #expect(error?.code == .invalidResponse)
            }
        }
    }

    @Test("a download that accepts only 200 resumes with a part", arguments: [true, false])
    func onlyTheWholeIsAccepted(isCut: Bool) async throws {
        let files = RangeServer(content: content)
        try await withFolder { folder in
            try await MockServer.run { server in
                if isCut { server.enqueue(files.whole.truncated(after: 100_000)) }
                server.stub(.any) { files.answer($0) }
                let file = folder.appendingPathComponent("a")
                let options = RequestOptions {
                    $0.acceptedStatusCodes = .range(200..<201)
                    $0.retry = RetryPolicy(clock: TestClock(skips: true))
                }
                let response = try await Router<URLEndPoint>(session: DefaultSession.make()).download(
                    URLEndPoint(.get, server.url), to: file, options: options)
                #expect(try Data(contentsOf: file) == content)
                #expect(response.statusCode == 200 && response.headers["Content-Range"] == nil)
            }
        }
    }

    @Test("a part that reaches beyond the known end restarts the file")
    func partBeyondTheEnd() async throws {
        let files = RangeServer(content: content)
        try await withFolder { folder in
            try await MockServer.run { server in
                let part = MockResponse.data(content[100_000...] + Data(count: 7), statusCode: 206).with(
                    "Content-Range", "bytes 100000-\(content.count + 6)/*")
                server.enqueue(files.whole.truncated(after: 100_000), part.with("ETag", "\"v1\""))
                server.stub(.any) { files.answer($0) }
                let bytes = try await download(.curl, server, in: folder)
                #expect(bytes == content)
            }
        }
    }
}
