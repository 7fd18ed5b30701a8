import Foundation
import Switchboard
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

/// A session that fails the test when it is used.
struct NoNetwork: NetworkSession {
    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        Issue.record("the network was used: \(request)")
        throw NetworkError(.cannotConnect)
    }
}

/// Creates a path for a cassette's file in a temporary folder, which is removed after `body`. The file does not exist
/// yet.
func withFile<Output>(_ body: (URL) async throws -> Output) async throws -> Output {
    try await withFolder { try await body($0.appendingPathComponent("inner/tape.har")) }
}

extension Cassette {
    /// Plays a file without a network.
    static func playing(
        _ file: URL, mode: Mode = .replay, matching: Matching = .standard, repeats: Bool = false
    ) throws -> Cassette {
        try Cassette(file: file, mode: mode, recording: NoNetwork(), matching: matching, repeats: repeats)
    }

    /// Records these requests in a file, each answered by a stub.
    @discardableResult
    static func recording(
        _ requests: [NetworkRequest], in file: URL, mode: Mode = .recordMissing, redaction: Redaction = .standard,
        answer: @escaping @Sendable (NetworkRequest) -> MockResponse = { _ in .text("recorded") }
    ) async throws -> [NetworkResponse] {
        let cassette = try Cassette(
            file: file, mode: mode, recording: StubSession { answer($0) }, redaction: redaction)
        var responses: [NetworkResponse] = []
        for request in requests { responses.append(try await cassette.send(request)) }
        try cassette.save()
        return responses
    }
}

extension NetworkRequest {
    init(_ method: HTTPMethod = .get, text: String, headers: HTTPHeaders = [:], body: any HTTPBody = EmptyBody()) {
        self.init(method, URL(string: text), headers: headers, body: body)
    }
}

/// An archive read by JSONSerialization, independently of this package's decoder.
struct Archive {
    let text: String
    private let log: [String: Any]

    init(_ file: URL) throws {
        let data = try Data(contentsOf: file)
        text = String(decoding: data, as: UTF8.self)
        let root = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        log = try #require(root["log"] as? [String: Any])
    }

    var entries: [[String: Any]] { log["entries"] as? [[String: Any]] ?? [] }

    /// Returns the value at a path of names and numbers: `request.headers.0.value`.
    func value(_ path: String, of entry: Int = 0) -> Any? {
        path.split(separator: ".").reduce(entries.dropFirst(entry).first as Any?) { value, key in
            if let index = Int(key) {
                return (value as? [Any]).flatMap { $0.indices.contains(index) ? $0[index] : nil }
            }
            return (value as? [String: Any])?[String(key)]
        }
    }

    func text(_ path: String, of entry: Int = 0) -> String? { value(path, of: entry) as? String }

    var urls: [String] { entries.indices.compactMap { text("request.url", of: $0) } }
}
