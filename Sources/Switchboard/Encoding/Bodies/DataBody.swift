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

/// A body of bytes in memory, sent unchanged.
public struct DataBody: HTTPBody {
    /// The bytes.
    public let data: Data
    /// The fields given at initialization. None by default, not even `Content-Type`.
    public let additionalHeaders: HTTPHeaders

    /// Creates a body from bytes, without a `Content-Type` by default.
    public init(_ data: Data, additionalHeaders: HTTPHeaders = [:]) {
        self.data = data
        self.additionalHeaders = additionalHeaders
    }

    /// Creates a body from bytes with their media type, such as `image/png`.
    public init(_ data: Data, contentType: String) {
        self.init(data, additionalHeaders: [.contentType(contentType)])
    }

    /// Whether the body has no bytes.
    public var isEmpty: Bool { data.isEmpty }
    /// The number of bytes.
    public var length: Int64? { Int64(data.count) }

    /// Returns ``data``.
    public func encode() -> Data { data }
}

extension DataBody: CustomReflectable {
    /// A mirror with the number of bytes, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["data": "\(data)", "headers": additionalHeaders]) }
}
