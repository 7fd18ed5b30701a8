import Foundation
import Switchboard
import SwitchboardStreams

/// Uploads in pieces to a container registry, by OCI Distribution 1.1.
struct RegistryUpload: UploadFlow {
    /// `sha256:` and 64 hexadecimal digits. The registry verifies it.
    let digest: String

    func prepareCreation(
        _ request: inout NetworkRequest, length: Int64
    ) {
        request.method = .post
    }

    func prepareOffsetRequest(_ request: inout NetworkRequest) {
        request.method = .get
    }

    func preparePiece(
        _ request: inout NetworkRequest,
        _ piece: Range<Int64>, of length: Int64
    ) {
        request.method = .patch
        request.headers["Content-Range"] =
            "\(piece.lowerBound)-\(piece.upperBound - 1)"
        request.headers["Content-Type"] = "application/octet-stream"
    }

    func prepareCompletion(
        _ request: inout NetworkRequest, length: Int64
    ) -> Bool {
        request.method = .put
        let query = [request.query, "digest=\(digest)"]
        request.query = query.compactMap { $0 }.joined(separator: "&")
        return true
    }

    // `Range: 0-9` is ten bytes. `0-0` may mean none or one, so a
    // piece that was accepted then counts in full.
    func offset(
        after response: NetworkResponse, sent: Int64?
    ) -> Int64? {
        guard let range = response.headers["Range"] else {
            return sent ?? 0
        }
        let ends = range.split(separator: "-")
        guard ends.count == 2, ["0", "bytes=0"].contains(ends[0]),
            let last = Int64(ends[1]), last >= 0, last < .max
        else { return nil }
        return last == 0 ? sent ?? 0 : last + 1
    }
}
