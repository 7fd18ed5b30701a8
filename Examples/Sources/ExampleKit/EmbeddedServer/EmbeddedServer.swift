import Foundation
import Switchboard
import SwitchboardMocks

/// Runs a server inside a program on a free port of 127.0.0.1, so that the examples need no network.
package enum EmbeddedServer {
    /// Answers a request. An error that it throws becomes a status 500 without a body.
    package typealias Answer = @Sendable (RecordedRequest) throws -> MockResponse

    /// Runs a server while `body` runs and passes its URL to `body`. If `other` is a URL, from `--server`, `body`
    /// receives that URL and no server starts.
    package static func run<Value>(
        unless other: URL? = nil, _ answer: @escaping Answer, isolation: isolated (any Actor)? = #isolation,
        _ body: (URL) async throws -> Value
    ) async throws -> Value {
        if let other { return try await body(other) }
        // Otherwise a proxy of the environment gets the requests to this server.
        let environment = ProcessInfo.processInfo.environment
        let hosts = (environment["no_proxy"] ?? environment["NO_PROXY"] ?? "").split(separator: ",").map(String.init)
        if !hosts.contains("127.0.0.1") { setenv("no_proxy", (hosts + ["127.0.0.1"]).joined(separator: ","), 1) }
        return try await MockServer.run { request in
            (try? answer(request)) ?? .status(500)
        } body: { server in
            try await body(server.url)
        }
    }
}

extension RecordedRequest {
    /// The segments of the path, percent-decoded: `["api", "users", "7"]`.
    package var segments: [String] {
        path.split(separator: "/").map { $0.removingPercentEncoding ?? String($0) }
    }
}

extension MockResponse {
    /// Returns a record as JSON with sorted keys, by default in snake case.
    package static func record(
        _ record: any Encodable, status: Int = 200, keys: JSONEncoder.KeyEncodingStrategy = .convertToSnakeCase
    ) throws -> MockResponse {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = keys
        encoder.outputFormatting = .sortedKeys
        return .json(try encoder.encode(record), statusCode: status)
    }
}
