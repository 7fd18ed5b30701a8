import Foundation
import Switchboard

/// Sends pieces by PATCH with `Content-Range`, as container registries accept them ([OCI Distribution
/// 1.1](https://github.com/opencontainers/distribution-spec/blob/v1.1.0/spec.md#pushing-a-blob-in-chunks)).
public struct OCIUpload: UploadFlow {
    /// The hash of the file: `sha256:` and 64 hexadecimal digits. The registry verifies it.
    public let digest: String

    /// Creates the flow.
    public init(digest: String) {
        self.digest = digest
    }

    /// Sets POST without a body.
    public func open(_ request: inout NetworkRequest, length: Int64) {
        request.method = .post
    }

    /// Sets GET.
    public func ask(_ request: inout NetworkRequest) {
        request.method = .get
    }

    /// Sets PATCH with the piece's first and last byte.
    public func send(_ request: inout NetworkRequest, _ piece: Range<Int64>, of length: Int64) {
        request.method = .patch
        request.headers["Content-Range"] = "\(piece.lowerBound)-\(piece.upperBound - 1)"
        request.headers["Content-Type"] = "application/octet-stream"
    }

    /// Sets PUT with the digest.
    public func finish(_ request: inout NetworkRequest, length: Int64) -> Bool {
        request.method = .put
        request.query = [request.query, "digest=\(digest)"].compactMap { $0 }.joined(separator: "&")
        return true
    }

    /// Returns the last byte of the field `Range` plus one: 10 for `0-9`. `0-0` may mean none or one byte, so a piece
    /// that was accepted then counts in full.
    public func offset(after response: NetworkResponse, sent: Int64?) -> Int64? {
        guard let value = response.headers["Range"] else { return sent ?? 0 }
        let text = value.hasPrefix("bytes=") ? value.dropFirst(6) : value[...]
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends[0] == "0", let last = Int64(digits: ends[1]) else { return nil }
        return last == 0 ? sent ?? 0 : last < .max ? last + 1 : nil
    }
}
