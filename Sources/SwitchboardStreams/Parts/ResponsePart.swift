import Foundation
import Switchboard

/// One part of a `multipart` response ([RFC 2046 §5.1](https://www.rfc-editor.org/rfc/rfc2046#section-5.1)).
public struct ResponsePart: Sendable, Hashable {
    /// The part's header fields, in order. No field is required.
    public var headers: HTTPHeaders
    /// The bytes between the blank line after the fields and the next boundary, as they were sent. A
    /// `Content-Transfer-Encoding` is not decoded, and a multipart within it is not parsed.
    public var body: Data

    /// Creates a part.
    public init(headers: HTTPHeaders = [:], body: Data = Data()) {
        self.headers = headers
        self.body = body
    }

    /// The range of bytes in the `Content-Range`, or nil without a valid one. The length of ``body`` is not compared
    /// with it.
    public var contentRange: ContentRange? { headers["Content-Range"].flatMap { ContentRange($0) } }
}
