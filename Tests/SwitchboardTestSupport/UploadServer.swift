import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardMocks

/// Receives an upload in pieces by one of three protocols, and loses the scripted parts.
package final class UploadServer: Sendable {
    package enum Dialect: CaseIterable, Sendable { case tus, ietf, registry }

    /// A fault of one piece: the number of its bytes that are kept, and the answer.
    package struct Mishap: Sendable {
        package var kept: Int
        package var answer: MockResponse

        package init(kept: Int, answer: MockResponse = .close) {
            (self.kept, self.answer) = (kept, answer)
        }
    }

    package let dialect: Dialect
    private let held = Protected(Data())
    private let mishaps: Protected<[Int: Mishap]>
    private let pieces = Protected(0)
    private let uploads = Protected(0)

    /// Creates a server. The keys of `mishaps` are the numbers of the pieces, from 0.
    package init(_ dialect: Dialect, mishaps: [Int: Mishap] = [:]) {
        self.dialect = dialect
        self.mishaps = Protected(mishaps)
    }

    package var data: Data { held.value }
    package var pieceCount: Int { pieces.value }
    package var uploadCount: Int { uploads.value }

    package func answer(_ request: RecordedRequest) -> MockResponse {
        guard request.target.hasPrefix("/uploads/") else { return open(request) }
        guard request.target.split(separator: "?")[0] == "/uploads/\(uploads.value)" else { return .status(404) }
        switch request.method {
        case .patch: return piece(request)
        case .put where dialect == .registry: return .status(201, headers: ["Location": "/blob"])
        case .head where dialect != .registry, .get where dialect == .registry: return place(.status(204))
        default: return .status(405)
        }
    }

    private func open(_ request: RecordedRequest) -> MockResponse {
        guard request.method == .post, request.body.isEmpty else { return .status(400) }
        switch dialect {
        case .tus:
            guard request.headers["Tus-Resumable"] == "1.0.0", request.headers["Upload-Length"] != nil else {
                return .status(412)
            }
        case .ietf: guard request.headers["Upload-Complete"] == "?0" else { return .status(400) }
        case .registry: break
        }
        uploads.withLock { $0 += 1 }
        held.withLock { $0 = Data() }
        return .status(dialect == .registry ? 202 : 201, headers: ["Location": "/uploads/\(uploads.value)"])
    }

    private func piece(_ request: RecordedRequest) -> MockResponse {
        let count = held.value.count
        guard offset(of: request) == count else { return place(.status(dialect == .registry ? 416 : 409)) }
        let number = pieces.withLock { pieces in
            defer { pieces += 1 }
            return pieces
        }
        let mishap = mishaps.value[number]
        held.withLock { $0 += request.body.prefix(mishap?.kept ?? .max) }
        return mishap?.answer ?? place(.status(dialect == .registry ? 202 : 204))
    }

    private func offset(of request: RecordedRequest) -> Int? {
        switch dialect {
        case .tus:
            guard request.headers["Content-Type"] == "application/offset+octet-stream" else { return nil }
            return request.headers["Upload-Offset"].flatMap { Int($0) }
        case .ietf:
            guard request.headers["Content-Type"] == "application/partial-upload" else { return nil }
            return request.headers["Upload-Offset"].flatMap { Int($0) }
        case .registry:
            // OCI Distribution requires `^[0-9]+-[0-9]+$`, and the range must fit the body.
            let ends = (request.headers["Content-Range"] ?? "").split(separator: "-").compactMap { Int($0) }
            guard ends.count == 2, ends[1] - ends[0] + 1 == request.body.count else { return nil }
            return ends[0]
        }
    }

    private func place(_ response: MockResponse) -> MockResponse {
        let count = held.value.count
        guard dialect == .registry else { return response.with("Upload-Offset", String(count)) }
        return response.with("Range", "0-\(max(0, count - 1))").with(
            "Location", "/uploads/\(uploads.value)?_state=\(count)")
    }
}
