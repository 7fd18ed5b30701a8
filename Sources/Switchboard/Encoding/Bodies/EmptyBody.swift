import Foundation

/// No body, the default of every request. The request has no `Content-Type` and, for GET, no `Content-Length`.
public struct EmptyBody: HTTPBody {
    /// Creates an empty body.
    public init() {}

    /// Whether the body is empty: always true.
    public var isEmpty: Bool { true }
    /// 0.
    public var length: Int64? { 0 }

    /// Returns empty data.
    public func encode() -> Data { Data() }
}
