import Foundation
import Switchboard

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
