import Foundation
import Switchboard

/// A protocol for uploads in pieces: its requests create an upload, ask for its offset, send a piece and complete it.
///
/// Use ``TusUpload`` or ``IETFUpload``, or write a custom flow. A flow only changes requests and reads
/// responses; the library sends, retries and saves the state. Each request begins as the endpoint's request, with its
/// URL and header fields. All requests but the first have the upload's URL instead, and an empty body or the piece.
public protocol UploadFlow: Sendable {
    /// Changes the endpoint's request, whose body is empty, to create an upload of this length in bytes.
    func prepareCreation(_ request: inout NetworkRequest, length: Int64)
    /// Changes a request to ask how many bytes the server has.
    func prepareOffsetRequest(_ request: inout NetworkRequest)
    /// Changes a request whose body is a piece of the file.
    func preparePiece(_ request: inout NetworkRequest, _ piece: Range<Int64>, of length: Int64)
    /// Changes a request to complete the upload after the last byte. Returns false, the default, if the last piece
    /// completes the upload.
    func prepareCompletion(_ request: inout NetworkRequest, length: Int64) -> Bool
    /// Returns the number of bytes that the server has, as a 2xx response to one of these requests states it.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - sent: The end of the piece that the response is for. Nil for a creation and an offset request.
    /// - Returns: The number of bytes, from 0 to the length, or nil when the response does not state it.
    func offset(after response: NetworkResponse, sent: Int64?) -> Int64?
    /// Returns whether an upload is complete if the server has all its bytes, as the response to a creation or an offset
    /// request states it. An empty piece completes any other upload. Default true.
    func isComplete(after response: NetworkResponse) -> Bool
    /// Returns whether a response, also one with an error, is the result of the complete upload, so that no request
    /// follows. Default false.
    func isResult(_ response: NetworkResponse) -> Bool
    /// Returns the size of the next pieces in bytes, within the limits that a 2xx response states. Default `size`.
    ///
    /// - Parameters:
    ///   - size: The size until now: at first the `pieceSize` of the upload.
    ///   - response: The response.
    /// - Returns: The size, at least 1. The last piece may be smaller.
    func pieceSize(_ size: Int64, after response: NetworkResponse) -> Int64
}

extension UploadFlow {
    /// Returns false: the last piece completes the upload.
    public func prepareCompletion(_ request: inout NetworkRequest, length: Int64) -> Bool { false }
    /// Returns true.
    public func isComplete(after response: NetworkResponse) -> Bool { true }
    /// Returns false.
    public func isResult(_ response: NetworkResponse) -> Bool { false }
    /// Returns `size`.
    public func pieceSize(_ size: Int64, after response: NetworkResponse) -> Int64 { size }
}

extension UploadFlow where Self == TusUpload {
    /// The protocol tus 1.0.0.
    public static var tus: TusUpload { TusUpload() }
}

extension UploadFlow where Self == IETFUpload {
    /// The IETF's draft.
    public static var ietf: IETFUpload { IETFUpload() }
}

/// Uploads a file in pieces by the core and the creation extension of
/// [tus 1.0.0](https://tus.io/protocols/resumable-upload): `router.upload(.addFile, from: file, by: .tus)`.
public struct TusUpload: UploadFlow {
    private let metadata: [String: String]

    /// Creates the flow.
    ///
    /// - Parameter metadata: The metadata of the upload, such as file name and type. Keys must not contain blanks or
    ///   commas. Default none.
    public init(metadata: [String: String] = [:]) {
        self.metadata = metadata
    }

    /// Sets POST with the length and the metadata.
    public func prepareCreation(_ request: inout NetworkRequest, length: Int64) {
        request.method = .post
        request.headers["Tus-Resumable"] = "1.0.0"
        request.headers["Upload-Length"] = String(length)
        guard !metadata.isEmpty else { return }
        request.headers["Upload-Metadata"] = metadata.sorted { $0.key < $1.key }
            .map { "\($0.key) \(Data($0.value.utf8).base64EncodedString())" }.joined(separator: ",")
    }

    /// Sets HEAD.
    public func prepareOffsetRequest(_ request: inout NetworkRequest) {
        request.method = .head
        request.headers["Tus-Resumable"] = "1.0.0"
    }

    /// Sets PATCH with the piece's offset.
    public func preparePiece(_ request: inout NetworkRequest, _ piece: Range<Int64>, of length: Int64) {
        request.method = .patch
        request.headers["Tus-Resumable"] = "1.0.0"
        request.headers["Upload-Offset"] = String(piece.lowerBound)
        request.headers["Content-Type"] = "application/offset+octet-stream"
    }

    /// Returns the field `Upload-Offset`. Without it, returns 0 for the response that created the upload, and nil
    /// otherwise.
    public func offset(after response: NetworkResponse, sent: Int64?) -> Int64? {
        guard let value = response.headers["Upload-Offset"] else {
            return sent == nil && response.statusCode == 201 ? 0 : nil
        }
        return Int64(digits: value)
    }
}

/// The IETF's draft [Resumable Uploads for
/// HTTP](https://datatracker.ietf.org/doc/draft-ietf-httpbis-resumable-upload/). The first request creates the upload
/// without content, and PATCH requests append to it.
public struct IETFUpload: UploadFlow {
    private let interopVersion: Int

    /// Creates the flow.
    ///
    /// - Parameter interopVersion: The interop version of the draft that requests announce. Default 8.
    public init(interopVersion: Int = 8) {
        self.interopVersion = interopVersion
    }

    /// Sets the length, and POST unless the endpoint's method allows a body.
    public func prepareCreation(_ request: inout NetworkRequest, length: Int64) {
        if !request.method.allowsBody { request.method = .post }
        announce(&request)
        request.headers["Upload-Complete"] = "?0"
        request.headers["Upload-Length"] = String(length)
    }

    /// Sets HEAD.
    public func prepareOffsetRequest(_ request: inout NetworkRequest) {
        request.method = .head
        announce(&request)
    }

    /// Sets PATCH with the piece's offset, and marks the last piece as complete.
    public func preparePiece(_ request: inout NetworkRequest, _ piece: Range<Int64>, of length: Int64) {
        request.method = .patch
        announce(&request)
        request.headers["Upload-Offset"] = String(piece.lowerBound)
        request.headers["Upload-Complete"] = piece.upperBound == length ? "?1" : "?0"
        request.headers["Content-Type"] = "application/partial-upload"
    }

    /// Returns the field `Upload-Offset`. Without it, returns the end of the piece that was accepted, 0 for the
    /// response that created the upload, or nil for the response to HEAD.
    public func offset(after response: NetworkResponse, sent: Int64?) -> Int64? {
        guard let value = response.headers["Upload-Offset"] else {
            return sent ?? (response.request?.method == .head ? nil : 0)
        }
        return Int64(digits: value)
    }

    /// Returns the field `Upload-Complete`. Without it, returns whether the response is to HEAD.
    public func isComplete(after response: NetworkResponse) -> Bool {
        response.headers["Upload-Complete"].map { !$0.hasPrefix("?0") } ?? (response.request?.method == .head)
    }

    /// Returns whether the response to a piece has `Upload-Complete: ?1`.
    public func isResult(_ response: NetworkResponse) -> Bool {
        response.request?.method == .patch && response.headers["Upload-Complete"]?.hasPrefix("?1") == true
    }

    /// Returns the size within `max-append-size` and `min-append-size` of the field `Upload-Limit`. An invalid field is
    /// ignored.
    public func pieceSize(_ size: Int64, after response: NetworkResponse) -> Int64 {
        var (smallest, largest) = (Int64(0), Int64.max)
        for member in response.headers.listMembers(of: "Upload-Limit") {
            let parts = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard ["max-append-size", "min-append-size"].contains(parts[0]) else { continue }
            guard parts.count == 2, let limit = Int64(digits: parts[1].prefix { $0 != ";" }) else { return size }
            if parts[0] == "max-append-size" { largest = limit } else { smallest = limit }
        }
        return largest > 0 && smallest <= largest ? min(max(size, smallest), largest) : size
    }

    private func announce(_ request: inout NetworkRequest) {
        request.headers["Upload-Draft-Interop-Version"] = String(interopVersion)
    }
}
