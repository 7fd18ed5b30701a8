import Foundation
import Switchboard

/// How a server takes an upload in pieces: how one is opened, asked about, sent on and finished.
///
/// ``TusUpload``, ``IETFUpload`` and ``RegistryUpload`` are ready. A flow of your own is pure, as they are: it changes
/// requests and reads responses; what sends them retries, asks and keeps the state. Each request is given as the
/// endpoint's own, with its URL and headers; but for the first, its URL is that of the upload, and its body empty or the
/// piece.
public protocol UploadFlow: Sendable {
    /// Makes the endpoint's request the one that opens an upload of so many bytes. Its body is empty.
    func open(_ request: inout NetworkRequest, length: Int64)
    /// Makes a request the one that asks how much the server has.
    func ask(_ request: inout NetworkRequest)
    /// Makes a request the one that sends a piece, which is its body already.
    func send(_ request: inout NetworkRequest, _ piece: Range<Int64>, of length: Int64)
    /// Makes a request the one that finishes an upload whose bytes are all there; false, the default, where the last
    /// piece does that.
    func finish(_ request: inout NetworkRequest, length: Int64) -> Bool
    /// How many bytes the server has, by an answer to `open`, `ask` or `send` that has a status of 2xx.
    ///
    /// - Parameters:
    ///   - response: The answer.
    ///   - sent: The end of the piece that it answers; nil for the other two.
    /// - Returns: The number, from 0 to the length; nil when the answer does not say.
    func offset(after response: NetworkResponse, sent: Int64?) -> Int64?
    /// Whether an upload of no bytes needs a piece all the same. Default false.
    var sendsEmptyPiece: Bool { get }
}

extension UploadFlow {
    /// False: the last piece finishes.
    public func finish(_ request: inout NetworkRequest, length: Int64) -> Bool { false }
    /// False.
    public var sendsEmptyPiece: Bool { false }
}

/// The core and the creation extension of [tus 1.0.0](https://tus.io/protocols/resumable-upload).
public struct TusUpload: UploadFlow {
    /// What the server is told about the upload: file name, type and the like. Keys hold neither blanks nor commas.
    public let metadata: [String: String]

    /// Makes the flow.
    public init(metadata: [String: String] = [:]) {
        self.metadata = metadata
    }

    /// POST with the length.
    public func open(_ request: inout NetworkRequest, length: Int64) {
        request.method = .post
        request.headers["Tus-Resumable"] = "1.0.0"
        request.headers["Upload-Length"] = String(length)
        guard !metadata.isEmpty else { return }
        request.headers["Upload-Metadata"] = metadata.sorted { $0.key < $1.key }
            .map { "\($0.key) \(Data($0.value.utf8).base64EncodedString())" }.joined(separator: ",")
    }

    /// HEAD.
    public func ask(_ request: inout NetworkRequest) {
        request.method = .head
        request.headers["Tus-Resumable"] = "1.0.0"
    }

    /// PATCH from the offset on.
    public func send(_ request: inout NetworkRequest, _ piece: Range<Int64>, of length: Int64) {
        request.method = .patch
        request.headers["Tus-Resumable"] = "1.0.0"
        request.headers["Upload-Offset"] = String(piece.lowerBound)
        request.headers["Content-Type"] = "application/offset+octet-stream"
    }

    /// The field `Upload-Offset`; 0 for the answer that opened it.
    public func offset(after response: NetworkResponse, sent: Int64?) -> Int64? {
        guard let value = response.headers["Upload-Offset"] else { return response.statusCode == 201 ? 0 : nil }
        return Int64(digits: value)
    }
}

extension UploadFlow where Self == TusUpload {
    /// tus 1.0.0.
    public static var tus: TusUpload { TusUpload() }
}

/// The IETF's [Resumable Uploads for HTTP](https://datatracker.ietf.org/doc/draft-ietf-httpbis-resumable-upload/), a draft
/// still: created without content, appended to by PATCH.
public struct IETFUpload: UploadFlow {
    /// The draft's interop version that is announced. Default 8.
    public let interopVersion: Int

    /// Makes the flow.
    public init(interopVersion: Int = 8) {
        self.interopVersion = interopVersion
    }

    /// The endpoint's method, or POST for one without a body, with the length.
    public func open(_ request: inout NetworkRequest, length: Int64) {
        if !request.method.allowsBody { request.method = .post }
        announce(&request)
        request.headers["Upload-Complete"] = "?0"
        request.headers["Upload-Length"] = String(length)
    }

    /// HEAD.
    public func ask(_ request: inout NetworkRequest) {
        request.method = .head
        announce(&request)
    }

    /// PATCH from the offset on; the last one says that it is.
    public func send(_ request: inout NetworkRequest, _ piece: Range<Int64>, of length: Int64) {
        request.method = .patch
        announce(&request)
        request.headers["Upload-Offset"] = String(piece.lowerBound)
        request.headers["Upload-Complete"] = piece.upperBound == length ? "?1" : "?0"
        request.headers["Content-Type"] = "application/partial-upload"
    }

    /// The field `Upload-Offset`; without it, all of the piece that was accepted, or 0 for the answer that opened it.
    public func offset(after response: NetworkResponse, sent: Int64?) -> Int64? {
        guard let value = response.headers["Upload-Offset"] else {
            return sent ?? (response.request?.method == .head ? nil : 0)
        }
        return Int64(digits: value)
    }

    /// True: the upload is complete when a piece says so.
    public var sendsEmptyPiece: Bool { true }

    private func announce(_ request: inout NetworkRequest) {
        request.headers["Upload-Draft-Interop-Version"] = String(interopVersion)
    }
}

extension UploadFlow where Self == IETFUpload {
    /// The IETF's draft.
    public static var ietf: IETFUpload { IETFUpload() }
}

/// Pieces by PATCH with `Content-Range`, as container registries take them ([OCI Distribution
/// 1.1](https://github.com/opencontainers/distribution-spec/blob/v1.1.0/spec.md#pushing-a-blob-in-chunks)).
public struct RegistryUpload: UploadFlow {
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
