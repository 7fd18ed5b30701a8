import SwitchboardPlatform
import Foundation
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@testable import Switchboard

/// `router.upload` and its progress.
@Suite(.timeLimit(.minutes(10)))
struct UploadProgressTests {
    private func upload(_ body: any HTTPBody, to server: MockServer) -> URLEndPoint {
        URLEndPoint(.put, server.url, task: .upload(body))
    }

    @Test(
        "an upload from disk has the right length and reports its progress",
        .requirement("S0.18"),
        arguments: SessionKind.allCases)
    func file(kind: SessionKind) async throws {
        let content = RangeServer.content(5_000_003)
        try await withFolder { folder in
            let file = folder.appendingPathComponent("a")
            try content.write(to: file)
            try await MockServer.run { server in
                server.enqueue(.json(#"{"id":1}"#))
                struct Made: Decodable, Sendable { var id: Int }
                let updates = Deliveries<TransferProgress.Update>()
                let progress = TransferProgress { updates.add($0) }
                let router = Router<URLEndPoint>(session: kind.make())
                let made = try await router.upload(
                    upload(FileBody(file), to: server), as: Made.self, progress: progress)
                #expect(made.id == 1)
                #expect(server.requests[0].body == content)
                #expect(server.requests[0].headers.values(for: "Content-Length") == ["5000003"])
                #expect(updates.all.last?.completed == 5_000_003)
                #expect(updates.all.last?.fraction == 1)
                #expect(updates.all.allSatisfy { $0.expected == 5_000_003 })
                #expect(updates.all.map(\.completed) == updates.all.map(\.completed).sorted())
                #expect(progress.foundationProgress.fractionCompleted == 1)
                for await update in progress { #expect(update.completed == 5_000_003) }
            }
        }
    }

    @Test("a progress of Foundation accepts any change of the size")
    func changedSizes() {
        let progress = TransferProgress()
        let updates: [(completed: Int64, size: Int64?)] = [
            (9_000_000_000, 10_000_000_007), (4_000_000_000, 5_000_000_009), (1_000_000, 1_000_000_007), (0, 0),
            (7, nil), (3, 4), (0, nil), (0, 0), (1, 2),
        ]
        for (completed, size) in updates {
            progress.report(completed, of: size)
            #expect(progress.foundationProgress.totalUnitCount == size ?? -1)
            #expect(progress.foundationProgress.completedUnitCount == completed)
        }
        #expect(progress.foundationProgress.fractionCompleted == 0.5)
    }

    @Test(
        "bodies in memory and forms report progress; a stream has no fraction",
        arguments: SessionKind.allCases)
    func kinds(kind: SessionKind) async throws {
        let stream = StreamBody {
            let rest = Protected(3)
            return HTTPBodyStream {
                rest.withLock { rest in
                    rest -= 1
                    return rest >= 0 ? Data(count: 100_000) : nil
                }
            }
        }
        let form = MultipartBody([.field("a", "1"), .data("f", Data(count: 200_000), fileName: "f")])
        try await MockServer.run { server in
            server.enqueue(.status(200).repeated())
            for body in [DataBody(Data(count: 300_000)), form, stream] as [any HTTPBody] {
                let progress = TransferProgress()
                try await Router<URLEndPoint>(session: kind.make()).upload(upload(body, to: server), progress: progress)
                let sent = try #require(server.requests.last).body.count
                #expect(progress.current.completed == Int64(sent))
                #expect(progress.current.expected == body.length)
                #expect((progress.current.fraction == nil) == (body.length == nil))
            }
        }
    }

    @Test("the progress restarts after a redirect and ends complete", arguments: SessionKind.allCases)
    func sentAgain(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.redirect(to: "/there", statusCode: 307), .status(200))
            let progress = TransferProgress()
            let body = DataBody(Data(count: 300_000))
            try await Router<URLEndPoint>(session: kind.make()).upload(upload(body, to: server), progress: progress)
            #expect(server.requests.map(\.body.count) == [300_000, 300_000])
            #expect(progress.current.completed == 300_000)
        }
    }

    @Test(
        "an upload's progress can cancel it, which closes the connection", .requirement("S0.18"),
        arguments: SessionKind.allCases)
    func cancelled(kind: SessionKind) async throws {
        let ended = Gate()
        try await RawServer.run { connection in
            _ = try connection.readHead()
            try connection.waitForEnd()
            ended.open()
        } body: { server in
            let progress = TransferProgress()
            let session = kind.make()
            let endPoint = URLEndPoint(.put, server.url, task: .upload(DataBody(Data(count: 50_000_000))))
            let task = Task {
                try await Router<URLEndPoint>(session: session).upload(endPoint, progress: progress)
            }
            for await update in progress where update.completed > 0 { break }
            progress.foundationProgress.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            try await ended.wait()
            withExtendedLifetime(session) {}
        }
    }

    @Test("an upload that is canceled before it begins sends nothing")
    func cancelledBefore() async throws {
        let session = StubSession(.status(200))
        let progress = TransferProgress()
        progress.foundationProgress.cancel()
        await #expect(throws: CancellationError.self) {
            try await Router<URLEndPoint>(session: session).upload(
                URLEndPoint(.put, URL(text: "http://h.test/"), task: .upload(DataBody(Data("a".utf8)))),
                progress: progress)
        }
        #expect(session.requests.isEmpty)
        for await update in progress { #expect(update == TransferProgress.Update()) }
    }

    @Test("an upload without a body is complete from the start")
    func empty() async throws {
        let progress = TransferProgress()
        try await Router<URLEndPoint>(session: StubSession(.status(200))).upload(
            URLEndPoint(.post, URL(text: "http://h.test/")), progress: progress)
        #expect(progress.current.fraction == 1)
    }

    @Test("an upload with a progress also calls the request's onBodySent")
    func ownBodySent() async throws {
        let (counts, progress) = (Deliveries<Int64>(), TransferProgress())
        let options = RequestOptions { $0.onBodySent = { counts.add($0) } }
        try await Router<URLEndPoint>(session: StubSession(.status(200)), options: options).upload(
            URLEndPoint(.put, URL(text: "http://h.test/"), task: .upload(DataBody(Data("abc".utf8)))),
            progress: progress)
        #expect(counts.all.last == 3)
        #expect(progress.current.completed == 3)
    }

    @Test("a refused status is the upload's error and ends the progress")
    func refused() async throws {
        let session = StubSession(.status(413))
        let progress = TransferProgress()
        let error = await #expect(throws: NetworkError.self) {
            try await Router<URLEndPoint>(session: session).upload(
                URLEndPoint(.put, URL(text: "http://h.test/"), task: .upload(DataBody(Data("abc".utf8)))),
                progress: progress)
        }
        #expect(error?.statusCode == 413)
        var last: TransferProgress.Update?
        for await update in progress { last = update }
        #expect(last?.completed == 3)
    }

    // MARK: Rate

    @Test("the rate covers the last seconds and restarts with the transfer")
    func rate() {
        var rate = TransferRate()
        #expect(rate.bytesPerSecond == nil)
        rate.record(0, at: .zero)
        #expect(rate.bytesPerSecond == nil)
        rate.record(1_000, at: .seconds(1))
        #expect(rate.bytesPerSecond == 1_000)
        for second in 2...20 { rate.record(Int64(1_000 + (second - 1) * 5_000), at: .seconds(second)) }
        #expect(rate.bytesPerSecond == 5_000)
        rate.record(0, at: .seconds(21))
        #expect(rate.bytesPerSecond == nil)
        rate.record(300, at: .milliseconds(21_100))
        #expect(rate.bytesPerSecond.map { $0.rounded() } == 3_000)
    }

    @Test("the rate is nil in the first tenth of a second")
    func firstRate() {
        var rate = TransferRate()
        rate.record(0, at: .zero)
        rate.record(65_536, at: .microseconds(20))
        #expect(rate.bytesPerSecond == nil)
        rate.record(131_072, at: .milliseconds(99))
        #expect(rate.bytesPerSecond == nil)
        rate.record(131_072, at: .milliseconds(100))
        #expect(rate.bytesPerSecond == 1_310_720)
    }

    @Test("fraction and remaining time follow the figures, or are nil")
    func figures() {
        #expect(TransferProgress.Update(completed: 25, expected: 100, rate: 25).fraction == 0.25)
        #expect(TransferProgress.Update(completed: 25, expected: 100, rate: 25).remaining == .seconds(3))
        #expect(TransferProgress.Update(completed: 25, expected: 100, rate: 0).remaining == nil)
        #expect(TransferProgress.Update(completed: 200, expected: 100, rate: 1).remaining == .zero)
        for rate in [.leastNonzeroMagnitude, 1e-10] {
            let remaining = TransferProgress.Update(completed: -1, expected: .max, rate: rate).remaining
            #expect(remaining == .seconds(3_155_760_000))
        }
        #expect(TransferProgress.Update(completed: 25, rate: 25).remaining == nil)
        #expect(TransferProgress.Update(completed: 25).fraction == nil)
        #expect(TransferProgress.Update(completed: 0, expected: 0).fraction == 1)
    }
}
