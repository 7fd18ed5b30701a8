import Foundation
import Switchboard
import SwitchboardMocks

/// A server inside a program, so that an example needs no network: a free port of 127.0.0.1.
package enum EmbeddedServer {
    /// What answers a request. What it throws is a bare 500.
    package typealias Answer = @Sendable (RecordedRequest) throws -> MockResponse

    /// Runs a server for as long as `body` runs, at the URL that `body` gets. With a URL of `--server` it runs none.
    package static func run<Value>(
        unless other: URL? = nil, _ answer: @escaping Answer, _ body: (URL) async throws -> Value
    ) async throws -> Value {
        if let other { return try await body(other) }
        return try await MockServer.run { request in
            (try? answer(request)) ?? .status(500)
        } body: { server in
            try await body(server.url)
        }
    }
}

extension RecordedRequest {
    /// The pieces of the path, escapes undone: `["api", "users", "7"]`.
    package var segments: [String] {
        path.split(separator: "/").map { $0.removingPercentEncoding ?? String($0) }
    }
}

extension MockResponse {
    /// A record as JSON. Its keys are snake case unless told otherwise, and in the order of their names.
    package static func record(
        _ record: any Encodable, status: Int = 200, keys: JSONEncoder.KeyEncodingStrategy = .convertToSnakeCase
    ) throws -> MockResponse {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = keys
        encoder.outputFormatting = .sortedKeys
        return .json(try encoder.encode(record), status: status)
    }
}
