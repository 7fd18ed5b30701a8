import Foundation
import Switchboard

/// A protocol for uploads in pieces: how to open an upload, ask for its offset, send a piece and finish.
///
/// Use ``TusUpload``, ``IETFUpload`` or ``OCIUpload``, or write a custom flow. A flow only changes requests and reads
/// responses; the library sends, retries and saves the state. Each request begins as the endpoint's request, with its
/// URL and header fields. All requests but the first have the upload's URL instead, and an empty body or the piece.
public protocol UploadFlow: Sendable {
    /// Turns the endpoint's request into the one that opens an upload of this length in bytes. Its body is empty.
    func open(_ request: inout NetworkRequest, length: Int64)
    /// Turns a request into the one that asks how many bytes the server has.
    func ask(_ request: inout NetworkRequest)
    /// Turns a request into the one that sends a piece. The piece is its body already.
    func send(_ request: inout NetworkRequest, _ piece: Range<Int64>, of length: Int64)
    /// Turns a request into the one that finishes the upload after the last byte. Returns false, the default, if the
    /// last piece finishes it.
    func finish(_ request: inout NetworkRequest, length: Int64) -> Bool
    /// Returns the number of bytes the server has, by its 2xx response to `open`, `ask` or `send`.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - sent: The end of the piece that the response is for. Nil for `open` and `ask`.
    /// - Returns: The number of bytes, from 0 to the length, or nil when the response does not state it.
    func offset(after response: NetworkResponse, sent: Int64?) -> Int64?
    /// Whether an upload of no bytes still needs a piece. Default false.
    var sendsEmptyPiece: Bool { get }
}

extension UploadFlow {
    /// Returns false: the last piece finishes the upload.
    public func finish(_ request: inout NetworkRequest, length: Int64) -> Bool { false }
    /// Whether an upload of no bytes still needs a piece: false.
    public var sendsEmptyPiece: Bool { false }
}

extension UploadFlow where Self == TusUpload {
    /// The protocol tus 1.0.0.
    public static var tus: TusUpload { TusUpload() }
}

extension UploadFlow where Self == IETFUpload {
    /// The IETF's draft.
    public static var ietf: IETFUpload { IETFUpload() }
}
