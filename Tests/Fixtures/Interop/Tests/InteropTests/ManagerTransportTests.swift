import Foundation
import HTTPTypes
import OpenAPIRuntime
import Switchboard
import SwitchboardTesting
import Testing

@testable import Interop

@Suite(.timeLimit(.minutes(10)))
struct ManagerTransportTests {
    @Test("an operation is a call of the manager, with streamed bodies")
    func operation() async throws {
        try await MockServer.run { server in
            server.enqueue(.status(503), .json(#"{"id":7}"#, statusCode: 201))
            let manager = NetworkManager(
                baseURL: server.url,
                interceptors: [
                    RetryPolicy(maximumAttempts: 2, clock: TestClock(skips: true)), BearerAuth("secret"),
                ])
            let request = HTTPRequest(
                method: .put, scheme: nil, authority: nil, path: "/films/a%2Fb?page=1",
                headerFields: [.contentType: "application/json", .accept: "application/json"])
            let chunks = AsyncStream<ArraySlice<UInt8>> { continuation in
                continuation.yield(ArraySlice(#"{"id":"#.utf8))
                continuation.yield(ArraySlice("7}".utf8))
                continuation.finish()
            }
            // Replayed by the retry: each reading of an array begins at its start.
            let body = OpenAPIRuntime.HTTPBody(
                Replayed(chunks: await chunks.reduce(into: []) { $0.append($1) }), length: .known(8),
                iterationBehavior: .multiple)
            let (head, answer) = try await ManagerTransport(manager: manager).send(
                request, body: body, baseURL: server.url.appendingPathComponent("v1"), operationID: "put")
            #expect(head.status == .created)
            var text = ""
            for try await chunk in try #require(answer) { text += String(decoding: chunk, as: UTF8.self) }
            #expect(text == #"{"id":7}"#)
            #expect(server.requests.map(\.target) == ["/v1/films/a%2Fb?page=1", "/v1/films/a%2Fb?page=1"])
            #expect(server.requests.map(\.text) == [#"{"id":7}"#, #"{"id":7}"#])
            #expect(server.requests.allSatisfy { $0.headers["Content-Length"] == "8" })
            #expect(server.requests.allSatisfy { $0.headers["Authorization"] == "Bearer secret" })
            #expect(server.requests.allSatisfy { $0.headers.values(for: "Content-Type") == ["application/json"] })
        }
    }

    @Test("every status is a response, and a failure is a NetworkError")
    func statuses() async throws {
        let manager = NetworkManager(
            session: StubSession(.status(404, body: "no"), .failure(.cannotFindHost)))
        let transport = ManagerTransport(manager: manager)
        let request = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/")
        let url = try #require(URL(string: "https://h.example"))
        let (head, _) = try await transport.send(request, body: nil, baseURL: url, operationID: "get")
        #expect(head.status == .notFound)
        let error = await #expect(throws: NetworkError.self) {
            try await transport.send(request, body: nil, baseURL: url, operationID: "get")
        }
        #expect(error?.code == .cannotFindHost)
    }
}

/// Chunks that can be read several times.
private struct Replayed: AsyncSequence, Sendable {
    let chunks: [ArraySlice<UInt8>]

    struct Iterator: AsyncIteratorProtocol {
        var rest: ArraySlice<ArraySlice<UInt8>>

        mutating func next() async -> ArraySlice<UInt8>? { rest.popFirst() }
    }

    func makeAsyncIterator() -> Iterator { Iterator(rest: chunks[...]) }
}
