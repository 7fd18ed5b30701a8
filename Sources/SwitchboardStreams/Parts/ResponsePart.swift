import Foundation
import Switchboard

/// One part of a `multipart` response ([RFC 2046 §5.1](https://www.rfc-editor.org/rfc/rfc2046#section-5.1)).
public struct ResponsePart: Sendable, Hashable {
    /// The part's own fields, in their order; none of them is required.
    public var headers: HTTPHeaders
    /// What stands between the blank line behind the fields and the next boundary, as it was sent: a
    /// `Content-Transfer-Encoding` is not undone, a multipart within it not taken apart.
    public var body: Data

    /// Makes a part.
    public init(headers: HTTPHeaders = [:], body: Data = Data()) {
        self.headers = headers
        self.body = body
    }

    /// Which bytes of the whole it holds, by its `Content-Range`; nil when there is none or it cannot be read. Whether
    /// ``body`` has as many is not checked.
    public var contentRange: ContentRange? { headers["Content-Range"].flatMap { ContentRange($0) } }
}
