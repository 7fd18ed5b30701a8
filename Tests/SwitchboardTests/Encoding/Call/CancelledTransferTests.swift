import SwitchboardPlatform
import Foundation
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@testable import Switchboard

/// Calls that are canceled while their bodies are sent or received.
@Suite(.inTurn, .serialized, .timeLimit(.minutes(10)))
struct CancelledTransferTests {
    private static let rounds = cases(40)

    /// Starts calls and cancels them some yields later, in many rounds over one router and one session.
    private func cancelInRounds(
        _ call: @escaping @Sendable (_ index: Int) async throws -> Void, by cancel: @escaping @Sendable () async -> Void
    ) async throws {
        var random = SeededGenerator(seed: 15)
        for round in 0..<Self.rounds {
            let tasks = (0..<3).map { index in Task { try await call(index) } }
            for _ in 0..<Int.random(in: 0...400, using: &random) { await Task.yield() }
            // Repeats until all have ended, because a call that has not begun is not canceled.
            let ended = Deliveries<Void>()
            let canceller = Task {
                while ended.all.count < tasks.count {
                    await cancel()
                    await Task.yield()
                }
            }
            for task in tasks {
                let result = await task.result
                ended.add(())
                guard case .failure(let error) = result else { continue }
                let isExpected = error is CancellationError || (error as? NetworkError)?.code == .resetInProgress
                #expect(isExpected, "round \(round): \(error)")
            }
            await canceller.value
        }
    }

    private func run(
        _ kind: SessionKind,
        _ body: (Router<URLEndPoint>, MockServer, @escaping @Sendable (Int) -> URL) async throws -> Void
    )
        async throws
    {
        let content = Data(count: 2_000_000)
        let count = Protected(0)
        try await withFolder { folder in
            try await MockServer.run { _ in
                // Some responses end by themselves. The others stall.
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                return number % 3 == 0 ? .data(content) : .data(content).stalled(after: number * 7919 % 1_000_000)
            } body: { server in
                let options = RequestOptions { $0.timeouts = .none }
                try await body(Router(session: kind.make(), options: options), server) {
                    folder.appendingPathComponent("file\($0)")
                }
            }
        }
    }

    @Test(
        "router.cancel() while a stream is read ends each call", .requirement("S3.8"),
        arguments: SessionKind.allCases)
    func stream(kind: SessionKind) async throws {
        try await run(kind) { router, server, _ in
            try await cancelInRounds { _ in
                let response = try await router.streamedResponse(for: URLEndPoint(.get, server.url))
                for try await _ in response.bytes {}
            } by: {
                router.cancel()
            }
        }
    }

    @Test(
        "router.cancel() during a download ends each call", .requirement("S3.8"), arguments: SessionKind.allCases)
    func download(kind: SessionKind) async throws {
        try await run(kind) { router, server, file in
            try await cancelInRounds { index in
                try await router.download(URLEndPoint(.get, server.url), to: file(index))
            } by: {
                router.cancel()
            }
            let folder = file(0).deletingLastPathComponent().path
            let left = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(left.allSatisfy { $0.hasPrefix("file") })
        }
    }

    @Test(
        "router.reset() during a download into a task's file ends it", .requirement("S3.8"),
        arguments: SessionKind.allCases)
    func downloadTask(kind: SessionKind) async throws {
        try await run(kind) { router, server, file in
            try await cancelInRounds { index in
                _ = try await router.response(for: URLEndPoint(.get, server.url, task: .download(to: file(index))))
            } by: {
                await router.reset()
            }
        }
    }

    @Test("a canceled Progress ends its download", .requirement("S3.8"), arguments: SessionKind.allCases)
    func progress(kind: SessionKind) async throws {
        try await run(kind) { router, server, file in
            let current = Protected((0..<3).map { _ in TransferProgress() })
            try await cancelInRounds { index in
                let progress = TransferProgress()
                current.withLock { $0[index] = progress }
                try await router.download(URLEndPoint(.get, server.url), to: file(index), progress: progress)
            } by: {
                for progress in current.value { progress.foundationProgress.cancel() }
            }
        }
    }

    @Test(
        "router.cancel() during a streamed upload ends each call", .requirement("S3.8"),
        arguments: SessionKind.allCases)
    func upload(kind: SessionKind) async throws {
        try await run(kind) { router, server, _ in
            let body = StreamBody { .init(chunks: Array(repeating: Data(count: 50_000), count: 40)) }
            try await cancelInRounds { _ in
                let progress = TransferProgress()
                let endPoint = URLEndPoint(.put, server.url, task: .upload(body))
                _ = try await router.upload(endPoint, progress: progress)
            } by: {
                router.cancel()
            }
        }
    }
}
