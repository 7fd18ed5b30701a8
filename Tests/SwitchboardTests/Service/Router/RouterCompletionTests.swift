import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct RouterCompletionTests {
    private let url = URL(text: "https://api.example.com/things")

    @Test("a completion call returns before its response arrives", .requirement("S0.12"))
    func neverBlocks() async throws {
        let gate = Deliveries<Bool>()
        let session = StubSession { _ in
            _ = try await gate.first()
            return .text("late")
        }
        let results = Deliveries<Result<String, NetworkError>>()
        Router<URLEndPoint>(session: session).request(URLEndPoint(.get, url), as: String.self) { results.add($0) }
        #expect(results.all.isEmpty)
        gate.open()  // A call that waited for its response would never get here.
        #expect(try await results.first() == .success("late"))
    }

    @Test(
        "async and completion form give the same value", .requirement("S0.12", "S3.9", "S4.10"),
        arguments: [200, 201, 299])
    func sameValue(status: Int) async throws {
        let router = Router<URLEndPoint>(session: StubSession { _ in .json("[1,2]", statusCode: status) })
        let endPoint = URLEndPoint(.get, url)
        let results = Deliveries<Result<[Int], NetworkError>>()
        router.request(endPoint, as: [Int].self) { results.add($0) }
        #expect(try await results.first() == .success([1, 2]))
        #expect(try await router.request(endPoint, as: [Int].self) == [1, 2])
    }

    @Test("async and completion form give the same error", .requirement("S4.10"), arguments: Outcome.failures)
    func sameError(outcome: Outcome) async throws {
        let router = Router<URLEndPoint>(session: StubSession { _ in outcome.response })
        let endPoint = URLEndPoint(.get, url)
        let results = Deliveries<Result<[Int], NetworkError>>()
        router.request(endPoint, as: [Int].self) { results.add($0) }
        let delivered = try await results.first()
        let given = #expect(throws: NetworkError.self) { try delivered.get() }
        let thrown = await #expect(throws: NetworkError.self) { try await router.request(endPoint, as: [Int].self) }
        #expect(thrown?.code == outcome.code)
        #expect(given == thrown)
    }

    @Test(
        "every outcome calls the completion exactly once", .requirement("S3.9", "S0.12"), arguments: Outcome.all)
    func exactlyOnce(outcome: Outcome) async throws {
        let session = StubSession { _ in outcome.response }
        let router = Router<URLEndPoint>(session: session)
        let codes = Deliveries<NetworkError.Code?>()
        let handle = router.request(URLEndPoint(.get, url), as: [Int].self) { result in
            codes.add(result.failureCode)
        }
        #expect(try await codes.first() == outcome.code)
        // Two things could cause a second call: a later cancellation and another request of the router.
        handle.cancel()
        router.cancel()
        let later = Deliveries<Bool>()
        router.response(for: URLEndPoint(.get, url)) { _ in later.add(true) }
        _ = try await later.first()
        #expect(codes.all.count == 1)
    }

    /// A model that is not `Sendable`. Its decoding requests another turn of the main actor.
    private final class Turn: Decodable {
        static let log = Deliveries<String>()
        var number = 1

        init(from decoder: any Decoder) throws {
            MainActor.preconditionIsolated()
            Self.log.add("decoded")
            Task { @MainActor in Self.log.add("next turn") }
        }
    }

    @MainActor
    @Test("a value that the main actor decodes arrives in the same turn", .requirement("S0.12"))
    func sameTurn() async throws {
        let router = Router<URLEndPoint>(session: StubSession { _ in .json("1") })
        router.request(URLEndPoint(.get, url), as: Turn.self, on: MainActor.self) { _ in Turn.log.add("completed") }
        #expect(try await Turn.log.wait(for: 3).prefix(3) == ["decoded", "completed", "next turn"])
    }

    @Test("an invalid request calls the completion exactly once", .requirement("S3.9"))
    func unmakeable() async throws {
        let session = StubSession { _ in .text("no") }
        let router = Router<URLEndPoint>(session: session)
        let codes = Deliveries<NetworkError.Code?>()
        let handle = router.request(URLEndPoint(.get, URL(text: "ftp://example.com/")), as: String.self) {
            codes.add($0.failureCode)
        }
        #expect(try await codes.first() == .invalidRequest)
        handle.cancel()
        #expect(codes.all.count == 1)
        #expect(session.requests.isEmpty)
    }

    @Test("a response that is not HTTP ends the call once, with an error", .requirement("S3.9"))
    func notHTTP() async throws {
        try await MockServer.run { server in
            server.enqueue(.raw("SSH-2.0-OpenSSH_9.6\r\n"), .raw("SSH-2.0-OpenSSH_9.6\r\n"))
            let router = Router<URLEndPoint>(session: DefaultSession.make())
            let arrived = Deliveries<(data: Data?, response: URLResponse?, error: (any Error)?)>()
            router.request(URLEndPoint(.get, server.url)) { arrived.add(($0, $1, $2)) }
            let one = try await arrived.first()
            #expect((one.error as? NetworkError)?.code.isKind(of: .invalidResponse) == true)
            #expect(one.response == nil)
            await #expect(throws: NetworkError.self) { try await router.response(for: URLEndPoint(.get, server.url)) }
            #expect(arrived.all.count == 1)
        }
    }

    @Test("the published form separates data, response and error, also for a 404", .requirement("S0.10"))
    func publishedForm() async throws {
        let session = StubSession(
            .json(#"{"message":"no such thing"}"#, statusCode: 404, headers: ["X-Trace": "7"]), .close)
        let router = Router<URLEndPoint>(session: session)
        let arrived = Deliveries<(data: Data?, response: HTTPURLResponse?, error: (any Error)?)>()
        router.request(URLEndPoint(.get, url)) { arrived.add(($0, $1 as? HTTPURLResponse, $2)) }
        let answered = try await arrived.first()
        #expect(answered.data == Data(#"{"message":"no such thing"}"#.utf8))
        #expect(answered.response?.statusCode == 404)
        #expect(answered.response?.value(forHTTPHeaderField: "x-trace") == "7")
        #expect(answered.error == nil)

        router.request(URLEndPoint(.get, url)) { arrived.add(($0, $1 as? HTTPURLResponse, $2)) }
        let failed = try await arrived.wait(for: 2)[1]
        #expect(failed.response == nil)
        #expect(failed.data == nil)
        #expect((failed.error as? NetworkError)?.code == .connectionLost)
    }
}

extension RouterCompletionTests {
    @Test("the published form also has a response for one without a URL", .requirement("S0.10", "S3.9"))
    func cannedAnswer() async throws {
        let canned = AdHocInterceptor { _, _ in NetworkResponse(statusCode: 201, body: Data("canned".utf8)) }
        let router = Router<URLEndPoint>(session: StubSession(), interceptors: [canned])
        let arrived = Deliveries<(data: Data?, response: HTTPURLResponse?)>()
        router.request(URLEndPoint(.get, url)) { data, response, _ in arrived.add((data, response as? HTTPURLResponse))
        }
        let one = try await arrived.first()
        #expect(one.data == Data("canned".utf8))
        #expect(one.response?.statusCode == 201)
        #expect(one.response?.url == url)
    }
}

extension RouterCompletionTests {
    /// An outcome of a request and its error code, or nil for a value.
    struct Outcome: Sendable, CustomTestStringConvertible {
        let name: String
        let response: MockResponse
        let code: NetworkError.Code?
        var testDescription: String { name }

        static let all = failures + [Outcome(name: "a value", response: .json("[1]"), code: nil)]
        static let failures = [
            Outcome(name: "404", response: .json("{}", statusCode: 404), code: .notFound),
            Outcome(name: "500", response: .status(500), code: .serverError),
            Outcome(name: "304", response: .status(304), code: .redirection),
            Outcome(name: "600", response: .status(600), code: .unexpectedStatus),
            Outcome(name: "no data", response: .status(200), code: .noData),
            Outcome(name: "not JSON", response: .json("[1"), code: .decodingFailed),
            Outcome(name: "closed", response: .close, code: .connectionLost),
            Outcome(name: "truncated", response: .json("[1,2]").truncated(after: 2), code: .truncatedBody),
            Outcome(name: "offline", response: .failure(.noInternetConnection), code: .noInternetConnection),
            Outcome(
                name: "redirected to ftp", response: .status(302, headers: ["Location": "ftp://a/"]),
                code: .redirectRefused),
        ]
    }
}
