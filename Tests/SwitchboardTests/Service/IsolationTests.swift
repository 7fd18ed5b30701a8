import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct IsolationTests {
    @Test("no query, body, header, timeout or file leaks into the next call", .requirement("S0.15"))
    func nothingLeaks() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("isolation-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try await MockServer.run { _ in
            .text("answer")
        } body: { server in
            let router = Router<URLEndPoint>(session: DefaultSession.make())
            let task = HTTPTask.requestParametersAndHeaders(
                bodyParameters: ["secret": "a"], bodyEncoding: .formEncoding, urlParameters: ["page": 2],
                additionHeaders: ["X-Only-First": "1"])
            let options = RequestOptions { $0.timeouts = Timeouts(idle: .seconds(7)) }
            _ = try await router.response(for: URLEndPoint(.post, server.url, task: task, options: options))
            _ = try await router.response(for: URLEndPoint(.get, server.url, task: .download(to: file)))
            let last = try await router.response(for: URLEndPoint(.get, server.url))

            #expect(last.body == Data("answer".utf8))
            #expect(last.request?.timeouts.idle == .seconds(60))
            let seen = server.requests
            #expect(seen.map(\.query) == ["page=2", nil, nil])
            #expect(seen.map(\.text) == ["secret=a", "", ""])
            #expect(seen.map { $0.headers["X-Only-First"] } == ["1", nil, nil])
            #expect(seen[0].headers["Content-Type"]?.hasPrefix("application/x-www-form-urlencoded") == true)
            #expect(seen[1].headers["Content-Type"] == nil)
            #expect(seen[2].headers["Content-Type"] == nil)
        }
    }

    @Test("a hundred concurrent calls each get the response to their request", .requirement("S0.15"))
    func unmixed() async throws {
        let echo: MockServer.Handler = { request in
            .text(
                [request.queryValue("n"), request.headers["X-N"], request.text].map { $0 ?? "-" }.joined(separator: " ")
            )
        }
        try await MockServer.run(handler: echo) { server in
            let router = Router<URLEndPoint>(session: DefaultSession.make())
            try await withThrowingTaskGroup(of: (Int, String).self) { group in
                for number in 0..<100 {
                    let task = HTTPTask.requestBody(
                        DataBody(Data("body \(number)".utf8)), urlParameters: ["n": number],
                        headers: ["X-N": "h\(number)"])
                    let endPoint = URLEndPoint(.post, server.url.appendingPathComponent("echo"), task: task)
                    group.addTask { (number, try await router.request(endPoint, as: String.self)) }
                }
                for try await (number, text) in group { #expect(text == "\(number) h\(number) body \(number)") }
            }
            #expect(server.requests.count == 100)
            #expect(Set(server.requests.map(\.target)) == Set((0..<100).map { "/echo?n=\($0)" }))
        }
    }

    @Test("a hundred concurrent completions each get their response", .requirement("S0.15"))
    func unmixedCompletions() async throws {
        let session = StubSession { request in .text(request.url?.query ?? "none") }
        let router = Router<URLEndPoint>(session: session)
        let pairs = Deliveries<String>()
        for number in 0..<100 {
            let task = HTTPTask.requestParameters(urlParameters: ["n": number])
            router.request(URLEndPoint(.get, URL(text: "https://a.example.com"), task: task), as: String.self) {
                result in
                pairs.add("\(number): \((try? result.get()) ?? "failed")")
            }
        }
        let seen = try await pairs.wait(for: 100)
        #expect(Set(seen) == Set((0..<100).map { "\($0): n=\($0)" }))
    }
}
