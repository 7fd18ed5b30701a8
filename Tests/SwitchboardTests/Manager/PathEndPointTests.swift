import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct PathEndPointTests {
    private struct Film: Codable, Equatable, Sendable {
        var id: Int
    }

    @Test("a path goes below the base URL, in every environment")
    func pathBelowBaseURL() async throws {
        let session = StubSession { _ in .json(#"{"id":7}"#) }
        let manager = NetworkManager(baseURL: "https://api.example.com/3?key=1", session: session)
        for environment in [NetworkEnvironment.production, .qa, NetworkEnvironment("canary")] {
            manager.environment = environment
            #expect(try await manager.request(.get("films/7", ["lang": "de"]), as: Film.self) == Film(id: 7))
        }
        let urls = Set(session.requests.map { $0.url?.absoluteString })
        #expect(urls == ["https://api.example.com/3/films/7?key=1&lang=de"])
        #expect(session.requests.count == 3)
    }

    @Test("each method sends its body to its path")
    func methods() async throws {
        let session = StubSession { _ in .json(#"{"id":1}"#) }
        let manager = NetworkManager(baseURL: "https://api.example.com", session: session)
        let body = JSONBody(Film(id: 1))
        _ = try await manager.response(for: .post("films", body))
        _ = try await manager.response(for: .put("films/1", body))
        _ = try await manager.response(for: .patch("films/1", body))
        _ = try await manager.response(for: .delete("films/1"))
        _ = try await manager.response(for: .post("films/1/like"))
        let sent = try session.requests.map {
            "\($0.method) \($0.url?.path ?? "") \(String(decoding: try $0.body.encode(), as: UTF8.self))"
        }
        #expect(
            sent == [
                #"POST /films {"id":1}"#, #"PUT /films/1 {"id":1}"#, #"PATCH /films/1 {"id":1}"#, "DELETE /films/1 ",
                "POST /films/1/like ",
            ])
    }

    @Test("each method sends its query and header fields, and no field as a query")
    func headersAndQuery() async throws {
        let session = StubSession { _ in .text("") }
        let manager = NetworkManager(baseURL: "https://api.example.com", session: session)
        let headers: HTTPHeaders = ["X-Key": "k"]
        try await manager.response(for: .get("films", ["page": 2], headers: headers))
        try await manager.response(for: .head("films", ["page": 2], headers: headers))
        try await manager.response(for: .delete("films", ["page": 2], headers: headers))
        try await manager.response(for: .post("films", headers: headers))
        try await manager.response(for: .put("films", EmptyBody(), headers: headers))
        try await manager.response(for: .patch("films", EmptyBody(), headers: headers))
        #expect(
            session.requests.map { "\($0.method) \($0.url?.query ?? "-") \($0.headers["X-Key"] ?? "-")" } == [
                "GET page=2 k", "HEAD page=2 k", "DELETE page=2 k", "POST - k", "PUT - k", "PATCH - k",
            ])
    }

    @Test("a path that is a URL stays at the base URL's host")
    func pathWithURL() async throws {
        let session = StubSession { _ in .text("") }
        let manager = NetworkManager(baseURL: "https://api.example.com/a", session: session)
        for path in ["https://evil.example/x", "//evil.example/x", "@evil.example"] {
            _ = try await manager.response(for: .get(path))
        }
        #expect(session.requests.count == 3)
        #expect(session.requests.allSatisfy { $0.url?.host == "api.example.com" })
    }

    @Test("the response of a path is saved in the manager's environment")
    func download() async throws {
        let session = StubSession { _ in .text("film") }
        let manager = NetworkManager(
            environment: .staging, servers: [.staging: "https://staging.example.com/3"], session: session)
        try await withFolder { folder in
            let file = folder.appendingPathComponent("film")
            let response = try await manager.download(.get("films/7"), to: file)
            #expect(response.fileURL == file)
            #expect(try String(contentsOf: file, encoding: .utf8) == "film")
        }
        #expect(session.requests.map { $0.url?.absoluteString } == ["https://staging.example.com/3/films/7"])
    }

    @Test("a bad base URL throws without a request, and names no environment")
    func badBaseURL() async throws {
        let session = StubSession { _ in .text("") }
        let manager = NetworkManager(baseURL: "api.example.com", session: session)
        let error = await #expect(throws: NetworkError.self) { try await manager.response(for: .get("x")) }
        #expect(error?.code == .invalidRequest && error?.reason?.contains("api.example.com") == true)
        #expect(error?.reason?.contains("environment") == false)
        #expect(session.requests.isEmpty)
    }

    @Test("a router cannot send a path, because it has no servers")
    func withoutServers() async throws {
        let error = await #expect(throws: NetworkError.self) {
            try await Router<PathEndPoint>(session: StubSession()).response(for: .get("films"))
        }
        #expect(error?.code == .missingURL && error?.reason?.contains("baseURL:") == true)
    }
}

/// Options of one call, and monitors of a router, in every form.
@Suite(.timeLimit(.minutes(10)))
struct CallOptionFormTests {
    private let url = URL(string: "https://api.example.com/x")!
    private let options = RequestOptions { $0.timeouts.total = .seconds(41) }

    /// Collects the total timeouts of the requests that pass.
    @Test("streams, lines and completions send the options of the call")
    func callOptions() async throws {
        let totals = Deliveries<Duration?>()
        let recorder = AdHocInterceptor { request, next in
            totals.add(request.timeouts.total)
            return try await next(request)
        }
        let session = StubSession { _ in .text("1\n2") }
        let router = Router<URLEndPoint>(session: session, interceptors: [recorder])
        let manager = NetworkManager(session: session, interceptors: [recorder])
        let endPoint = URLEndPoint(.get, url)
        for try await _ in try await router.streamedResponse(for: endPoint, options: options).bytes {}
        for try await _ in router.bytes(for: endPoint, options: options) {}
        for try await _ in router.lines(for: endPoint, options: options) {}
        for try await _ in manager.lines(for: endPoint, options: options) {}
        let ends = Deliveries<Bool>()
        router.request(endPoint, options: options) { data, _, _ in ends.add(data != nil) }
        router.request(endPoint, as: String.self, options: options) { ends.add((try? $0.get()) != nil) }
        router.response(for: endPoint, options: options) { ends.add((try? $0.get()) != nil) }
        manager.request(endPoint, as: String.self, options: options) { ends.add((try? $0.get()) != nil) }
        #expect(try await ends.wait(for: 4).allSatisfy { $0 })
        #expect(totals.all == Array(repeating: .seconds(41), count: 8))
    }

    @Test("monitors of a router and a manager receive the events of every call")
    func monitors() async throws {
        let session = StubSession { _ in .text("") }
        let endPoint = URLEndPoint(.get, url)
        let (ofRouter, ofManager) = (Events(), Events())
        _ = try await Router<URLEndPoint>(session: session, monitors: [ofRouter]).response(for: endPoint)
        _ = try await NetworkManager(session: session, monitors: [ofManager]).response(for: endPoint)
        for events in [ofRouter, ofManager] {
            #expect(
                events.texts.map { $0.replacing(/\d+ ms/, with: "N ms") }
                    == ["started", "exchange 1", "exchanged: HTTP 200 in N ms", "finished: HTTP 200"])
        }
    }
}
