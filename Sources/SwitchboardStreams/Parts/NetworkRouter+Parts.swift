import Foundation
import Switchboard

extension NetworkRouter {
    /// Returns the parts of a `multipart` response as they arrive, for instance several ranges of a file. See
    /// `NetworkResponse.parts(limit:)`.
    ///
    /// ```swift
    /// // The endpoint's headers: ["Range": "bytes=0-99,1000-1099"]
    /// for try await part in router.parts(for: .film) { show(part.body) }
    /// ```
    ///
    /// The request accepts `multipart/*`, unless the endpoint sets `Accept`. Reading the first part sends it, once. The
    /// reader sets the pace. A reader that stops early, or whose task is canceled, closes the exchange. Reading throws
    /// the errors of `streamedResponse(for:)` and `NetworkResponse.parts(limit:)`.
    ///
    /// - Parameters:
    ///   - endPoint: The endpoint.
    ///   - limit: The maximum number of bytes of a part's body. A larger one throws
    ///     `NetworkError.Code.responseTooLarge`. Default 64 MiB.
    /// - Returns: The parts, to be read once.
    public func parts(for endPoint: EndPoint, limit: Int = 64 << 20) -> ResponseSequence<ResponsePart> {
        let call = prepare(endPoint, accept: "multipart/*")
        return ResponseSequence(limit: limit) { try await call.stream() }
    }
}
