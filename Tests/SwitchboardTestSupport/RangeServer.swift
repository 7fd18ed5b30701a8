import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardMocks

/// Answers like a file server, `Range` and `If-Range` included (RFC 9110 §13.1.5 and §14).
package struct RangeServer: Sendable {
    package var content: Data
    package var validators: HTTPHeaders

    package init(content: Data, validators: HTTPHeaders = ["ETag": "\"v1\""]) {
        (self.content, self.validators) = (content, validators)
    }

    /// Creates bytes that differ at every position.
    package static func content(_ size: Int, seed: UInt32 = 0) -> Data {
        (0..<UInt32((size + 3) / 4)).map { ($0 &+ seed).bigEndian }.withUnsafeBytes { Data($0) }.prefix(size)
    }

    package func answer(_ request: RecordedRequest) -> MockResponse {
        guard let range = range(of: request) else { return whole }
        guard range.lowerBound < content.count else {
            return .status(416, headers: ["Content-Range": "bytes */\(content.count)"])
        }
        return part(range.clamped(to: 0..<content.count))
    }

    package var whole: MockResponse { fields(MockResponse.data(content)) }

    package func part(_ range: Range<Int>, of size: Int? = nil) -> MockResponse {
        let value = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size ?? content.count)"
        return fields(MockResponse.data(content[range], statusCode: 206)).with("Content-Range", value)
    }

    private func fields(_ response: MockResponse) -> MockResponse {
        validators.reduce(response) { $0.with($1.name, $1.value) }
    }

    private func range(of request: RecordedRequest) -> Range<Int>? {
        guard let value = request.headers["Range"], value.hasPrefix("bytes=") else { return nil }
        if let condition = request.headers["If-Range"], !validators.contains(where: { $0.value == condition }) {
            return nil
        }
        let ends = value.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Int(ends[0]) else { return nil }
        return first..<max(first, Int(ends[1]).map { $0 + 1 } ?? .max)
    }
}

/// Returns the names of a folder's contents.
package func names(in folder: URL) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()) ?? ["(unreadable)"]
}
