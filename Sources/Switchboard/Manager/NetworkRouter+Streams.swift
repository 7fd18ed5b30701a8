import Foundation

extension NetworkRouter {
    /// Performs a request and gives the response as soon as its head is there and its status is accepted; its body is
    /// read from ``NetworkResponse/bytes`` as it arrives.
    ///
    /// ``Timeouts/total`` ends with the head, ``Timeouts/idle`` and ``Timeouts/attempt`` with the body.
    ///
    /// - Throws: ``NetworkError``, with the code of the status when it was not accepted; `CancellationError` when the
    ///   task or the router was cancelled.
    public func streamedResponse(for endPoint: EndPoint) async throws -> NetworkResponse {
        try await streamedResponse(for: endPoint, accept: "*/*")
    }

    /// The body of a response in chunks, as it arrives.
    ///
    /// ```swift
    /// for try await chunk in router.bytes(for: .export) { try file.write(contentsOf: chunk) }
    /// ```
    ///
    /// The request is sent when the first chunk is asked for, once. The reader sets the pace; one that stops early, or
    /// whose task is cancelled, closes the exchange. Reading throws what ``streamedResponse(for:)`` throws, and the
    /// error of a body that ends early.
    public func bytes(for endPoint: EndPoint) -> ResponseBytes {
        ResponseBytes(opening: { try await streamedResponse(for: endPoint).bytes })
    }

    /// The lines of a text in UTF-8, as they arrive: ``bytes(for:)`` by ``ResponseBytes/lines(limit:)``.
    ///
    /// - Parameters:
    ///   - endPoint: What to ask for.
    ///   - limit: The most bytes of a line. More is ``NetworkError/Code/responseTooLarge``. Default 1 MiB.
    /// - Returns: The lines, read once.
    public func lines(for endPoint: EndPoint, limit: Int = 1 << 20) -> ResponseSequence<String> {
        bytes(for: endPoint).lines(limit: limit)
    }

    package func streamedResponse(
        for endPoint: EndPoint, accept: String?, options: RequestOptions = RequestOptions(),
        changing change: @Sendable (inout NetworkRequest) throws(NetworkError) -> Void = { _ in }
    ) async throws -> NetworkResponse {
        let response = try await rawResponse(for: endPoint, options: options, accept: accept) {
            request throws(NetworkError) in
            request.options.streamsResponse = true
            try change(&request)
        }
        try response.handling.check(response)
        return response
    }
}
