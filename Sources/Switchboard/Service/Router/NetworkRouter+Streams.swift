import Foundation

extension NetworkRouter {
    /// Sends an endpoint and returns the response when its head has arrived and its status is accepted.
    /// ``NetworkResponse/bytes`` reads the body as it arrives.
    ///
    /// ``Timeouts/total`` covers the call until the head; ``Timeouts/idle`` and ``Timeouts/attempt`` cover the body
    /// too.
    ///
    /// - Throws: ``NetworkError``, with the code of the status when it was not accepted; `CancellationError` when the
    ///   task or the router was canceled.
    public func streamedResponse(
        for endPoint: EndPoint, options: RequestOptions = RequestOptions(),
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> NetworkResponse {
        try await prepare(endPoint, options, accept: "*/*").stream()
    }

    /// Returns the body of a response in chunks, as it arrives.
    ///
    /// ```swift
    /// for try await chunk in router.bytes(for: .export) { show(chunk.count) }
    /// ```
    ///
    /// The request is sent once, when the first chunk is read. The reader sets the pace. A reader that stops early, or
    /// whose task is canceled, closes the exchange. Reading throws the errors of
    /// ``streamedResponse(for:options:isolation:)``, and the error of a body that ends early.
    public func bytes(for endPoint: EndPoint, options: RequestOptions = RequestOptions()) -> ResponseBytes {
        let call = prepare(endPoint, options, accept: "*/*")
        return ResponseBytes(opening: { try await call.stream().bytes })
    }

    /// Returns the lines of a text in UTF-8 as they arrive, by ``bytes(for:options:)`` and
    /// ``ResponseBytes/lines(limit:)``.
    ///
    /// - Parameters:
    ///   - endPoint: The endpoint to send.
    ///   - options: Options for this call. They override those of its endpoint. Default none.
    ///   - limit: The longest line, in bytes. A longer one throws ``NetworkError/Code/responseTooLarge``. Default 1
    ///     MiB.
    /// - Returns: The lines, which can be read once.
    public func lines(
        for endPoint: EndPoint, options: RequestOptions = RequestOptions(), limit: Int = 1 << 20
    ) -> ResponseSequence<String> {
        bytes(for: endPoint, options: options).lines(limit: limit)
    }
}

extension PreparedCall {
    /// Sends the request and returns the response when its head has arrived and its status is accepted.
    package func stream(_ change: Change? = nil) async throws -> NetworkResponse {
        try await performShared { request throws(NetworkError) in
            request.options.streamsResponse = true
            try change?(&request)
        }.endingCall { try $0.checked() }
    }
}
