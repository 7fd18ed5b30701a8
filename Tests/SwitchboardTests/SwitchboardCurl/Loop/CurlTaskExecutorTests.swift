#if os(Linux)
import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// Tasks on the thread of a session.
@Suite(.inTurn, .serialized, .timeLimit(.minutes(10)))
struct CurlTaskExecutorTests {
    private var thread: pthread_t { pthread_self() }

    @Test("tasks on a session's thread get responses and stay there")
    func requestsFromTheThread() async throws {
        try await MockServer.run(handler: { request in .text(request.target) }) { server in
            let session = CurlSession()
            try await withTaskExecutorPreference(session.taskExecutor) {
                let here = thread
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for index in 0..<200 {
                        group.addTask {
                            let url = server.url.appendingPathComponent("\(index)")
                            let response = try await session.send(NetworkRequest(.get, url))
                            #expect(response.text == "/\(index)")
                            #expect(thread == here)
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }

    /// Any JSON of lists and objects, decoded by trying one after the other.
    private indirect enum Anything: Decodable, Sendable {
        case list([Anything]), object([String: Anything])

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if let list = try? value.decode([Anything].self) {
                self = .list(list)
            } else {
                self = .object(try value.decode([String: Anything].self))
            }
        }
    }

    @Test("deep JSON decodes or throws on a session's thread", arguments: [100, 256, 512])
    func deepJSON(depth: Int) async throws {
        let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        try await MockServer.run(handler: { _ in .json(Data(text.utf8)) }) { server in
            let session = CurlSession()
            await withTaskExecutorPreference(session.taskExecutor) {
                let router = Router<URLEndPoint>(session: session)
                do {
                    _ = try await router.request(URLEndPoint(.get, server.url), as: Anything.self)
                } catch {
                    #expect((error as? NetworkError)?.code == .decodingFailed && depth > 100)
                }
            }
        }
    }

    @Test("calls, streams and cancellation work on a session's thread")
    func everyKind() async throws {
        try await MockServer.run { server in
            let session = CurlSession()
            let executor = session.taskExecutor
            try await withTaskExecutorPreference(executor) {
                server.enqueue(.json(Data(#"{"a": 1}"#.utf8)))
                let router = Router<URLEndPoint>(session: session)
                let value = try await router.request(URLEndPoint(.get, server.url), as: [String: Int].self)
                #expect(value == ["a": 1])
                _ = try await server.takeRequest()

                server.enqueue(.text("ok"))
                let chunks = Array(repeating: Data(repeating: 7, count: 1_000), count: 100)
                let body = StreamBody { .init(chunks: chunks) }
                let answer = try await session.send(NetworkRequest(.post, server.url, body: body))
                #expect(answer.text == "ok")
                #expect(try await server.takeRequest().body.count == 100_000)

                server.enqueue(.text(String(repeating: "x", count: 3_000_000)))
                var streamed = NetworkRequest(.get, server.url)
                streamed.options.streamsResponse = true
                var count = 0
                for try await chunk in try await session.send(streamed).bytes { count += chunk.count }
                #expect(count == 3_000_000)
                _ = try await server.takeRequest()

                server.enqueue(.stall)
                let task = Task(executorPreference: executor) {
                    try await session.send(NetworkRequest(.get, server.url))
                }
                _ = try await server.takeRequest()
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
            }
        }
    }

    @Test("after shutdown a task continues elsewhere and gets sessionInvalidated")
    func endedSession() async throws {
        try await MockServer.run(handler: { _ in .text("ok") }) { server in
            let session = CurlSession()
            try await withTaskExecutorPreference(session.taskExecutor) {
                _ = try await session.send(NetworkRequest(.get, server.url))
                await session.shutdown()
                let error = await #expect(throws: NetworkError.self) {
                    try await session.send(NetworkRequest(.get, server.url))
                }
                #expect(error?.code == .sessionInvalidated)
            }
        }
    }

    @Test("a task on a session's thread outlives the deallocated session")
    func droppedSession() async throws {
        var session: CurlSession? = CurlSession()
        let executor = try #require(session?.taskExecutor)
        let gate = AsyncStream.makeStream(of: Int.self)
        let task = Task(executorPreference: executor) {
            var sum = 0
            for await number in gate.stream { sum += number }
            return sum
        }
        gate.continuation.yield(1)
        session = nil
        gate.continuation.yield(2)
        gate.continuation.finish()
        #expect(await task.value == 3)
    }

    @Test("each request ends once when cancels race on and off the thread")
    func racingCancels() async throws {
        try await RawServer.run { connection in
            try connection.answerAll("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        } body: { server in
            let session = CurlSession()
            let request = NetworkRequest(.get, server.url)
            async let elsewhere = raceCancels(1_000, over: session, request)
            let here = await withTaskExecutorPreference(session.taskExecutor) {
                await raceCancels(1_000, over: session, request)
            }
            for ends in [here, await elsewhere] {
                #expect(ends.others == [])
                #expect(ends.count == 1_000)
            }
        }
    }
}
#endif
