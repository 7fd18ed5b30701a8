import Foundation
import Switchboard

/// How a server takes an upload in pieces: how one is opened, asked about, sent on and finished.
///
/// ``TusUpload``, ``IETFUpload`` and ``OCIUpload`` are ready. A flow of your own is pure, as they are: it changes
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

extension UploadFlow where Self == TusUpload {
    /// tus 1.0.0.
    public static var tus: TusUpload { TusUpload() }
}

extension UploadFlow where Self == IETFUpload {
    /// The IETF's draft.
    public static var ietf: IETFUpload { IETFUpload() }
}
