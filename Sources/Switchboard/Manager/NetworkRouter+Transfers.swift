import Foundation

extension NetworkRouter {
    /// Saves what an endpoint responds in a file, in constant memory.
    ///
    /// ```swift
    /// try await router.download(.poster(id: 7), to: file)
    /// ```
    ///
    /// The file has its name only once it is whole, in one step, and replaces one that is there. A connection that is
    /// lost, and an answer that may pass, is made good for within the call: with `Range` and `If-Range` where the server has
    /// sent a strong `ETag`, or a `Last-Modified`, and from the first byte on where it has not. Whatever the server answers
    /// to that, bytes of two versions are never mixed. A request other than GET begins again; one that is not idempotent is
    /// sent once. So many attempts in a row may fail as ``RequestOptions/retry`` says, or the ``RetryPolicy`` of the
    /// router, or else 3; one that brought 64 KiB begins a new row.
    ///
    /// The response is asked for without compression. A status that is not accepted, and a 204, saves nothing.
    /// ``Timeouts/total`` is for the whole download; ``ResponseLimits/downloadedFile`` is its limit.
    ///
    /// - Parameters:
    ///   - endPoint: What to ask for.
    ///   - file: Where to save it; its folder must exist. A link is replaced, what is neither file nor link is refused.
    ///   - isKept: Whether what has arrived is kept when the download fails or the process ends, so that the next call
    ///     with the same URL and file goes on with it. It lies beside the file as `.NAME.download`, with a
    ///     `.NAME.download.json` that says what it is of; neither holds a secret of the URL. Default false.
    ///   - options: Options for this call, which win over those of the endpoint. Default none.
    ///   - progress: Hears how far it is, and can cancel it.
    ///   - verify: Looks at the whole file before it has its name: compare a checksum there. What it throws is
    ///     ``NetworkError/Code/verificationFailed`` with the error underneath, and nothing is kept.
    /// - Returns: The last response: its ``NetworkResponse/fileURL`` is the file, and its
    ///   ``ExchangeMetrics/bytesReceived`` the bytes that this call fetched.
    /// - Throws: ``NetworkError``: that of ``response(for:options:)``, and ``NetworkError/Code/cannotWriteFile``, also while
    ///   another download keeps the same file; `CancellationError` when the task, the router or the progress was
    ///   cancelled.
    @discardableResult
    public func download(
        _ endPoint: EndPoint, to file: URL, keepingPartial isKept: Bool = false,
        options: RequestOptions = RequestOptions(), progress: TransferProgress? = nil,
        verify: (@Sendable (_ file: URL) async throws -> Void)? = nil
    ) async throws -> NetworkResponse {
        defer { progress?.end() }
        let download = Download(file: file, isKept: isKept, retry: RetryPolicy(), progress: progress, verify: verify)
        do {
            let response = try await rawResponse(for: endPoint, options: options, accept: "*/*") {
                $0.options.download = download
            }
            try response.handling.check(response)
            // A router of an app's own saves nothing.
            return response.fileURL == nil ? try await download.save(response) : response
        } catch let error as NetworkError {
            throw error.attributed(to: endPoint)
        }
    }

    /// Sends a request and tells how far its body is.
    ///
    /// ```swift
    /// let made = try await router.upload(.addVideo(file), as: Video.self, progress: progress)
    /// ```
    ///
    /// The body is that of the endpoint's task, of any kind: ``FileBody``, ``MultipartBody``, ``JSONBody``. It is sent as
    /// ``response(for:options:)`` sends it.
    ///
    /// - Parameters:
    ///   - endPoint: What to send.
    ///   - options: Options for this call, which win over those of the endpoint. Default none.
    ///   - progress: Hears how many bytes of the body were handed to the transport, and can cancel it. They may have a
    ///     way to go from there. A body that is sent again, by a retry or a redirect, begins again at 0.
    /// - Returns: The response, once its status is accepted.
    /// - Throws: What ``response(for:options:)`` throws.
    @discardableResult
    public func upload(
        _ endPoint: EndPoint, options: RequestOptions = RequestOptions(), progress: TransferProgress? = nil
    ) async throws -> NetworkResponse {
        guard let progress else { return try await response(for: endPoint, options: options) }
        let response = try await transfer(progress, on: self) {
            try await withUploadProgress(progress) { note in
                try await rawResponse(for: endPoint, options: options, accept: nil) { request in
                    let length = request.body.isEmpty ? 0 : request.body.length
                    note(0, length)
                    request.options.onBodySent = { note($0, length) }
                }
            }
        }
        try response.handling.check(response)
        return response
    }

    /// Sends a request, tells how far its body is, and decodes the response: ``upload(_:options:progress:)`` and
    /// ``NetworkResponse/decode(_:decoder:)``.
    public func upload<Value: Decodable & Sendable>(
        _ endPoint: EndPoint, as type: Value.Type, options: RequestOptions = RequestOptions(),
        progress: TransferProgress? = nil
    ) async throws -> Value {
        try await upload(endPoint, options: options, progress: progress).decode(type)
    }
}

/// Runs a transfer as one call of its router, that its progress can cancel, and ends the progress with it.
package func transfer<Output: Sendable>(
    _ progress: TransferProgress?, on router: some NetworkRouter, _ operation: @Sendable () async throws -> Output
) async throws -> Output {
    guard let progress else { return try await router.held(operation) }
    defer { progress.end() }
    return try await router.held { try await progress.run(operation) }
}
