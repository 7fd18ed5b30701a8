import Foundation
import Switchboard

/// Pieces by PATCH with `Content-Range`, as container registries take them ([OCI Distribution
/// 1.1](https://github.com/opencontainers/distribution-spec/blob/v1.1.0/spec.md#pushing-a-blob-in-chunks)).
public struct OCIUpload: UploadFlow {
    /// What the bytes must hash to: `sha256:` and 64 hexadecimal digits. The registry checks it.
    public let digest: String

    /// Makes the flow.
    public init(digest: String) {
        self.digest = digest
    }

    /// POST without a body.
    public func open(_ request: inout NetworkRequest, length: Int64) {
        request.method = .post
    }

    /// GET.
    public func ask(_ request: inout NetworkRequest) {
        request.method = .get
    }

    /// PATCH with the piece's first and last byte.
    public func send(_ request: inout NetworkRequest, _ piece: Range<Int64>, of length: Int64) {
        request.method = .patch
        request.headers["Content-Range"] = "\(piece.lowerBound)-\(piece.upperBound - 1)"
        request.headers["Content-Type"] = "application/octet-stream"
    }

    /// PUT with the digest.
    public func finish(_ request: inout NetworkRequest, length: Int64) -> Bool {
        request.method = .put
        request.query = [request.query, "digest=\(digest)"].compactMap { $0 }.joined(separator: "&")
        return true
    }

    /// The last byte of the field `Range`, and one: `0-9` is 10. `0-0` may be none or one, so that a piece that was
    /// accepted counts in full.
    public func offset(after response: NetworkResponse, sent: Int64?) -> Int64? {
        guard let value = response.headers["Range"] else { return sent ?? 0 }
        let text = value.hasPrefix("bytes=") ? value.dropFirst(6) : value[...]
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends[0] == "0", let last = Int64(digits: ends[1]) else { return nil }
        return last == 0 ? sent ?? 0 : last < .max ? last + 1 : nil
    }
}
