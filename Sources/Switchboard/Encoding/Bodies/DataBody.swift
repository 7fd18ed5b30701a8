import Foundation

/// Bytes at hand, sent as they are.
public struct DataBody: HTTPBody {
    /// The bytes.
    public let data: Data
    /// The fields given at the start; none by default, so no `Content-Type` either.
    public let additionalHeaders: HTTPHeaders

    /// Makes a body of these bytes.
    public init(_ data: Data, additionalHeaders: HTTPHeaders = [:]) {
        self.data = data
        self.additionalHeaders = additionalHeaders
    }

    /// Makes a body of these bytes with their media type, such as `image/png`.
    public init(_ data: Data, contentType: String) {
        self.init(data, additionalHeaders: [.contentType(contentType)])
    }

    /// Whether there are no bytes.
    public var isEmpty: Bool { data.isEmpty }
    /// The number of bytes.
    public var length: Int64? { Int64(data.count) }

    /// The bytes.
    public func encode() -> Data { data }
}
