import Foundation

/// No body: neither `Content-Type` nor, for GET, `Content-Length` is sent. The default of every request.
public struct EmptyBody: HTTPBody {
    /// No body.
    public init() {}

    /// True.
    public var isEmpty: Bool { true }
    /// 0.
    public var length: Int64? { 0 }

    /// No bytes.
    public func encode() -> Data { Data() }
}
