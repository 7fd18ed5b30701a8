import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// Closures of the app that a session calls without a lock, so that a waiting closure delays no other request.
@Suite(.inTurn, .serialized, .timeLimit(.minutes(10)))
struct BodySentTests {
    #if os(Linux)
    /// Blocks its thread until a request over the same session has its response. After five minutes it returns false.
    ///
    /// The request runs on a separate queue: a busy test run may have no other thread left for it.
    private func isAnotherAnswered(over session: any NetworkSession, _ url: URL) -> Bool {
        let answered = DispatchSemaphore(value: 0)
        Task(executorPreference: OneByOne()) {
            _ = try await session.send(NetworkRequest(.get, url))
            answered.signal()
        }
        return answered.wait(timeout: .now() + 300) == .success
    }

    @Test("a request gets its response while another's onBodySent waits for it")
    func bodySent() async throws {
        try await MockServer.run(handler: { _ in .text("ok") }) { server in
            let session = CurlSession()
            for body in [DataBody(Data(count: 100_000)), StreamBody { .init(chunks: [Data(count: 100_000)]) }]
                as [any HTTPBody]
            {
                let seen = Deliveries<Bool>()
                var request = NetworkRequest(.put, server.url, body: body)
                request.options.onBodySent = { _ in
                    if seen.all.isEmpty { seen.add(isAnotherAnswered(over: session, server.url)) }
                }
                let response = try await session.send(request)
                #expect(response.text == "ok")
                #expect(seen.all == [true])
            }
        }
    }

    @Test("onBodySent receives every count in order, before the response")
    func counts() async throws {
        try await MockServer.run(handler: { _ in .text("ok") }) { server in
            let session = CurlSession()
            for _ in 0..<50 {
                let counts = Deliveries<Int64>()
                var request = NetworkRequest(.put, server.url, body: DataBody(Data(count: 300_000)))
                request.options.onBodySent = { counts.add($0) }
                _ = try await session.send(request)
                #expect(counts.all.last == 300_000)
                #expect(counts.all == counts.all.sorted())
            }
        }
    }

    @Test("concurrent requests from the session's thread get their responses")
    func taskExecutor() async throws {
        try await MockServer.run(handler: { _ in .text("ok") }) { server in
            let session = CurlSession()
            try await withTaskExecutorPreference(session.taskExecutor) {
                async let one = session.send(NetworkRequest(.get, server.url))
                async let two = session.send(NetworkRequest(.get, server.url))
                let texts = try await [one.text, two.text]
                #expect(texts == ["ok", "ok"])
            }
        }
    }
    #endif

    @Test(
        "an app's status rule may wait for another request over the session",
        arguments: SessionKind.allCases)
    func acceptedStatusCodes(kind: SessionKind) async throws {
        try await withFolder { folder in
            try await MockServer.run(handler: { _ in .text("no", statusCode: 203) }) { server in
                let session = kind.make()
                let seen = Deliveries<Bool>()
                let accepted = RequestOptions.AcceptedStatusCodes { status in
                    #if os(Linux)
                    if seen.all.isEmpty { seen.add(isAnotherAnswered(over: session, server.url)) }
                    #endif
                    return status != 203
                }
                let router = Router<URLEndPoint>(
                    session: session,
                    options: RequestOptions { $0.acceptedStatusCodes = accepted })
                let file = folder.appendingPathComponent("file")
                let response = try? await router.rawResponse(
                    for: URLEndPoint(.get, server.url, task: .download(to: file)))
                #expect(response?.statusCode == 203)
                #expect(response?.text == "no")
                #expect(response?.fileURL == nil)
                #expect(response?.metrics.bytesReceived == 2)
                // The rule waits on Linux alone.
                #expect(seen.all == (SessionKind.curlAlone.isEmpty ? [] : [true]))
                #expect(!FileManager.default.fileExists(atPath: file.path))
            }
        }
    }
}
