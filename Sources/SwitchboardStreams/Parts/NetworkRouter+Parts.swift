import Foundation
import Switchboard

extension NetworkRouter {
    /// The parts of a `multipart` response, as they arrive: several ranges of a file for instance, by
    /// `NetworkResponse.parts(limit:)`.
    ///
    /// ```swift
    /// // The endpoint's headers: ["Range": "bytes=0-99,1000-1099"]
    /// for try await part in router.parts(for: .film) { show(part.body) }
    /// ```
    ///
    /// Asks for `multipart/*`, unless the endpoint says what it accepts. The request is sent when the first part is
    /// asked for, once. The reader sets the pace; one that stops early, or whose task is cancelled, closes the exchange.
    /// Reading throws what `streamedResponse(for:)` and `NetworkResponse.parts(limit:)` throw.
    ///
    /// - Parameters:
    ///   - endPoint: What to ask for.
    ///   - limit: The most bytes of a part's body. More is `NetworkError.Code.responseTooLarge`. Default 64 MiB.
    /// - Returns: The parts, read once.
    public func parts(for endPoint: EndPoint, limit: Int = 64 << 20) -> ResponseSequence<ResponsePart> {
        ResponseSequence(limit: limit) { try await streamedResponse(for: endPoint, accept: "multipart/*") }
    }
}
