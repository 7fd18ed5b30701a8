import Foundation
import Switchboard

/// The IETF's draft [Resumable Uploads for
/// HTTP](https://datatracker.ietf.org/doc/draft-ietf-httpbis-resumable-upload/). The first request creates the upload
/// without content, and PATCH requests append to it.
public struct IETFUpload: UploadFlow {
    /// The interop version of the draft that requests announce. Default 8.
    public let interopVersion: Int

    /// Creates the flow.
    public init(interopVersion: Int = 8) {
        self.interopVersion = interopVersion
    }

    /// Sets the length, and POST unless the endpoint's method allows a body.
    public func open(_ request: inout NetworkRequest, length: Int64) {
        if !request.method.allowsBody { request.method = .post }
        announce(&request)
        request.headers["Upload-Complete"] = "?0"
        request.headers["Upload-Length"] = String(length)
    }

    /// Sets HEAD.
    public func ask(_ request: inout NetworkRequest) {
        request.method = .head
        announce(&request)
    }

    /// Sets PATCH with the piece's offset, and marks the last piece as complete.
    public func send(_ request: inout NetworkRequest, _ piece: Range<Int64>, of length: Int64) {
        request.method = .patch
        announce(&request)
        request.headers["Upload-Offset"] = String(piece.lowerBound)
        request.headers["Upload-Complete"] = piece.upperBound == length ? "?1" : "?0"
        request.headers["Content-Type"] = "application/partial-upload"
    }

    /// Returns the field `Upload-Offset`. Without it, returns the end of the piece that was accepted, 0 for the
    /// response that opened the upload, or nil for the response to HEAD.
    public func offset(after response: NetworkResponse, sent: Int64?) -> Int64? {
        guard let value = response.headers["Upload-Offset"] else {
            return sent ?? (response.request?.method == .head ? nil : 0)
        }
        return Int64(digits: value)
    }

    /// Whether an empty upload needs a piece. True: a piece completes the upload.
    public var sendsEmptyPiece: Bool { true }

    private func announce(_ request: inout NetworkRequest) {
        request.headers["Upload-Draft-Interop-Version"] = String(interopVersion)
    }
}
