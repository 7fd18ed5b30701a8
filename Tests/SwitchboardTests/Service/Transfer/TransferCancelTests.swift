import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// `TransferProgress.cancel()`.
@Suite(.timeLimit(.minutes(10)))
struct TransferCancelTests {
    @Test("cancel() ends a download in flight and closes its connection", arguments: SessionKind.allCases)
    func download(kind: SessionKind) async throws {
        try await withFolder { folder in
            try await MockServer.run { server in
                server.enqueue(.stalled(after: 100_000))
                let progress = TransferProgress()
                let router = Router<URLEndPoint>(session: kind.make())
                let (endPoint, file) = (URLEndPoint(.get, server.url), folder.appendingPathComponent("a"))
                let task = Task { try await router.download(endPoint, to: file, progress: progress) }
                for await update in progress where update.completed > 0 { break }
                progress.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
                try await server.waitForDisconnect()
                #expect(progress.foundationProgress.isCancelled)
            }
        }
    }

    @Test("a transfer with a canceled progress sends nothing")
    func before() async throws {
        let session = StubSession { _ in .text("") }
        let progress = TransferProgress()
        progress.cancel()
        progress.cancel()
        await #expect(throws: CancellationError.self) {
            try await Router<URLEndPoint>(session: session).upload(
                URLEndPoint(.put, URL(text: "http://h.test/")), progress: progress)
        }
        #expect(session.requests.isEmpty)
        for await update in progress { #expect(update.completed == 0) }
    }

    @Test("cancel() after the end changes nothing")
    func after() async throws {
        let progress = TransferProgress()
        try await Router<URLEndPoint>(session: StubSession { _ in .text("done") }).upload(
            URLEndPoint(.put, URL(text: "http://h.test/"), task: .upload(DataBody(Data("abc".utf8)))),
            progress: progress)
        progress.cancel()
        #expect(progress.current.fraction == 1)
    }

    @Test(
        "a cancellation ends a verification and leaves a kept download", arguments: [true, false],
        [nil, URLError(.cancelled), CocoaError(.userCancelled)] as [(any Error)?])
    func verification(isKept: Bool, error: (any Error)?) async throws {
        try await withFolder { folder in
            let (began, gate) = (Deliveries<Bool>(), Gate())
            let router = Router<URLEndPoint>(session: StubSession { _ in .text("done").with("ETag", #""v1""#) })
            let (endPoint, file) = (URLEndPoint(.get, URL(text: "http://h.test/")), folder.appendingPathComponent("a"))
            let task = Task {
                try await router.download(endPoint, to: file, keepingPartial: isKept) { _ in
                    began.open()
                    do { try await gate.wait() } catch let cancellation { throw error ?? cancellation }
                }
            }
            _ = try await began.first()
            router.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(names(in: folder) == (isKept ? [".a.download", ".a.download.json"] : []))
        }
    }
}
