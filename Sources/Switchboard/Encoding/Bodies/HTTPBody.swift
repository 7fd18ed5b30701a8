import SwitchboardPlatform
import Foundation

/// What a request carries.
///
/// A body of your own needs ``encode()`` alone:
///
/// ```swift
/// struct CSVBody: HTTPBody {
///     let rows: [[String]]
///     var additionalHeaders: HTTPHeaders { ["Content-Type": "text/csv; charset=utf-8"] }
///     func encode() throws -> Data { Data(rows.map { $0.joined(separator: ",") }.joined(separator: "\r\n").utf8) }
/// }
/// ```
///
/// A body in memory is encoded once for each request, before anything is sent, and the same bytes go out again on a
/// retry or a 307. A body too large for memory sets ``isStreamed`` and gives its bytes through ``makeStream()``, which
/// is called anew for each sending.
public protocol HTTPBody: Sendable {
    /// Whether there is no body at all: then neither body nor `Content-Type` is sent. Default false.
    var isEmpty: Bool { get }
    /// Header fields that describe the body, `Content-Type` above all. A field that the request sets itself wins.
    /// Default none.
    var additionalHeaders: HTTPHeaders { get }
    /// The whole body in memory. What it throws ends the request with ``NetworkError/Code/encodingFailed``; nothing is
    /// sent.
    func encode() throws -> Data
    /// The number of bytes, when that is known without encoding. Default nil.
    var length: Int64? { get }
    /// Whether the bytes should be read through ``makeStream()`` instead of being held in memory. Default false.
    var isStreamed: Bool { get }
    /// Whether the body can be sent a second time. Default true. One that can not is never retried or redirected.
    var isReplayable: Bool { get }
    /// The bytes from the start. By default one chunk, what ``encode()`` gives.
    func makeStream() throws -> HTTPBodyStream
}

extension HTTPBody {
    /// False.
    public var isEmpty: Bool { false }
    /// No fields.
    public var additionalHeaders: HTTPHeaders { [:] }
    /// Nil: not known without encoding.
    public var length: Int64? { nil }
    /// False: the body is in memory.
    public var isStreamed: Bool { false }
    /// True.
    public var isReplayable: Bool { true }

    /// One chunk: what ``encode()`` gives.
    public func makeStream() throws -> HTTPBodyStream {
        let whole = Protected<Data?>(try encode())
        return HTTPBodyStream {
            whole.withLock { data in
                defer { data = nil }
                return data
            }
        }
    }
}
