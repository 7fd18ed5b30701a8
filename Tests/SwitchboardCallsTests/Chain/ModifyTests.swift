import Foundation
import Switchboard
import SwitchboardCalls
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ModifyTests {
    private let url = URL(text: "https://a.example/x")

    private func send(_ session: any NetworkSession, _ interceptor: any Interceptor) async throws -> NetworkResponse {
        try await Router<URLEndPoint>(session: session, interceptors: [interceptor])
            .response(for: URLEndPoint(.get, url))
    }

    @Test("async closures change the request, the response and the result", .requirement("S2.13"))
    func changes() async throws {
        let session = StubSession { _ in .text("a") }
        let request = RequestModifier { request in
            await Task.yield()
            request.headers["X-A"] = "1"
            request.query = "b=2"
        }
        #expect(try await send(session, request).text == "a")
        #expect(session.requests.first?.headers["X-A"] == "1")
        #expect(session.requests.first?.query == "b=2")

        let response = ResponseModifier { response in
            await Task.yield()
            response.body += Data("b".utf8)
        }
        #expect(try await send(session, response).text == "ab")
        // A response that the closure creates gets the request.
        let made = try await send(session, ResponseModifier { $0 = NetworkResponse(statusCode: 201) })
        #expect(made.statusCode == 201)
        #expect(made.request?.url == url)

        let rescue = ResultModifier { result in
            await Task.yield()
            if case .failure = result { result = .success(NetworkResponse(statusCode: 200, body: Data("kept".utf8))) }
        }
        #expect(try await send(StubSession { _ in .close }, rescue).text == "kept")
        let fail = ResultModifier { $0 = .failure(NetworkError(.custom, reason: "no")) }
        let error = await #expect(throws: NetworkError.self) { try await send(session, fail) }
        #expect(error?.code == .custom)
    }

    @Test("replacing the request is invalidRequest, and nothing is sent", .requirement("S2.13"))
    func swappedRequest() async throws {
        let session = StubSession { _ in .text("a") }
        let swap = RequestModifier { $0 = NetworkRequest(.get, $0.url) }
        let error = await #expect(throws: NetworkError.self) { try await send(session, swap) }
        #expect(error?.code == .invalidRequest)
        #expect(error?.url == url)
        #expect(session.requests.isEmpty)
        let copy = RequestModifier { request in
            let copy = request
            request = copy
        }
        #expect(try await send(session, copy).text == "a")
    }

    @Test("a response to another request is invalidResponse", .requirement("S2.13"))
    func swappedResponse() async throws {
        let session = StubSession { _ in .text("a") }
        var other = NetworkResponse(statusCode: 200)
        other.request = NetworkRequest(.get, url)
        let modifiers: [any Interceptor] = [
            ResponseModifier { [other] in $0 = other }, ResultModifier { [other] in $0 = .success(other) },
        ]
        for modifier in modifiers {
            let error = await #expect(throws: NetworkError.self) { try await send(session, modifier) }
            #expect(error?.code == .invalidResponse)
            #expect(error?.url == url)
        }
    }

    private struct Failure: Error {}

    @Test("a closure's error ends the call; a cancellation cannot be changed", .requirement("S2.13"))
    func throwing() async throws {
        let session = StubSession { _ in .text("a") }
        let modifiers: [any Interceptor] = [
            RequestModifier { _ in throw Failure() }, ResponseModifier { _ in throw Failure() },
            ResultModifier { _ in throw Failure() },
        ]
        for modifier in modifiers {
            let error = await #expect(throws: NetworkError.self) { try await send(session, modifier) }
            #expect(error?.underlying is Failure)
        }
        let rescue = ResultModifier { $0 = .success(NetworkResponse(statusCode: 200)) }
        let cancelled = AdHocSession { _ in throw CancellationError() }
        await #expect(throws: CancellationError.self) { try await send(cancelled, rescue) }
    }

    @Test("canceling the router ends the wait for a closure", .requirement("S2.13", "S2.16"))
    func cancelling() async throws {
        let asked = AsyncStream<Void>.makeStream()
        let wait = RequestModifier { _ in
            asked.continuation.yield()
            try await Task.sleep(for: .seconds(3_600))
        }
        let router = Router<URLEndPoint>(session: StubSession { _ in .text("") }, interceptors: [wait])
        let call = Task { try await router.response(for: URLEndPoint(.get, url)) }
        for await _ in asked.stream { break }
        router.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
    }
}
