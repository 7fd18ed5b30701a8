import Foundation

extension NetworkRouter {
    /// Saves the response of an endpoint in a file, in constant memory.
    ///
    /// ```swift
    /// try await router.download(.poster(id: 7), to: file)
    /// ```
    ///
    /// The file appears atomically under its name when it is complete, and replaces an existing file. The call recovers
    /// from a lost connection and from temporary errors. It resumes with `Range` and `If-Range` if the method is GET,
    /// the endpoint sets no `Range`, the response is not compressed, and the server sent a strong `ETag`, or no `ETag`
    /// and a `Last-Modified` at least a second before its `Date`. Otherwise it begins again with the first byte. Bytes
    /// of two versions are never mixed. A request that is not idempotent is sent once. ``RequestOptions/retry``, or
    /// else the ``RetryPolicy`` of the router, limits the consecutive failed attempts; the default is 3. An attempt
    /// that receives 64 KiB restarts the count.
    ///
    /// The request accepts only an uncompressed response. A status that is not accepted saves no file. An accepted
    /// response without a file throws ``NetworkError/Code/noData``: a 204, a 205, a status other than 2xx, and any
    /// response to a HEAD. ``Timeouts/total`` covers the whole download. ``ResponseLimits/downloadedFile`` limits its
    /// size.
    ///
    /// - Parameters:
    ///   - endPoint: The endpoint to send.
    ///   - file: The destination. Its folder must exist. A symbolic link is replaced. A destination that is neither a
    ///     file nor a link is refused, and so is a link to a folder.
    ///   - isKept: If true, the bytes that have arrived are kept when the download fails or the process ends, and the
    ///     next call with the same URL and file resumes it. A download that cannot resume, or that ends with a 404 or
    ///     410, keeps nothing. The bytes are stored next to the file as `.NAME.download`, and `.NAME.download.json`
    ///     records their origin. Neither contains a secret of the URL. Default false.
    ///   - options: Options for this call. They override those of the endpoint. Default none.
    ///   - progress: Reports the progress, and can cancel the download.
    ///   - isolation: The actor on which the endpoint is read: the caller's.
    ///   - verify: Checks the complete file before it gets its name, for example by its checksum. If it throws, the
    ///     call throws ``NetworkError/Code/verificationFailed`` with that error underneath, and nothing is kept. After
    ///     a cancellation, the next call checks a kept download again.
    /// - Returns: The last response. Its ``NetworkResponse/fileURL`` is the file, and its
    ///   ``ExchangeMetrics/bytesReceived`` is the number of bytes that this call received from the server, without
    ///   those of a cache.
    /// - Throws: The errors of ``response(for:options:isolation:)``, and ``NetworkError/Code/cannotWriteFile``, with
    ///   `keepingPartial` also while another such download writes the same file. Otherwise the last download to finish
    ///   replaces the file. `CancellationError` when the task, the router or the progress was canceled.
    @discardableResult
    public func download(
        _ endPoint: EndPoint, to file: URL, keepingPartial isKept: Bool = false,
        options: RequestOptions = RequestOptions(), progress: TransferProgress? = nil,
        isolation: isolated (any Actor)? = #isolation,
        verify: (@Sendable (_ file: URL) async throws -> Void)? = nil
    ) async throws -> NetworkResponse {
        var options = options
        options.download = Download(
            file: file, isKept: isKept, retry: RetryPolicy(), progress: progress, verify: verify)
        options.streamsResponse = false
        do {
            return try await prepare(endPoint, options, accept: "*/*").performShared().endingCall { response in
                guard try response.checked().fileURL != nil else {
                    let reason = "the \(response.statusCode) response has nothing to save"
                    throw NetworkError(.noData, reason: reason).with(response)
                }
                return response
            }
        } catch let error as NetworkError {
            throw error.attributed(to: endPoint)
        }
    }

    /// Sends a request and reports the progress of its body.
    ///
    /// ```swift
    /// let made = try await router.upload(
    ///     .addVideo(body), as: Video.self, progress: progress)
    /// ```
    ///
    /// The body is that of the endpoint's task, of any type: ``FileBody``, ``MultipartBody``, ``JSONBody``. It is sent
    /// as ``response(for:options:isolation:)`` sends it.
    ///
    /// - Parameters:
    ///   - endPoint: The endpoint to send.
    ///   - options: Options for this call. They override those of the endpoint. Default none.
    ///   - progress: Reports the bytes of the body that were handed to the transport, and can cancel the upload. They
    ///     may not have reached the server yet. A body that a retry or a redirect sends again begins again at 0.
    ///   - isolation: The actor on which the endpoint is read: the caller's.
    /// - Returns: The response, if its status is accepted.
    /// - Throws: The errors of ``response(for:options:isolation:)``.
    @discardableResult
    public func upload(
        _ endPoint: EndPoint, options: RequestOptions = RequestOptions(), progress: TransferProgress? = nil,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> NetworkResponse {
        try await prepare(endPoint, options).upload(progress).endingCall { try $0.checked() }
    }

    /// Sends a request, reports the progress of its body, and decodes the response:
    /// ``upload(_:options:progress:isolation:)`` and ``NetworkResponse/decode(_:decoder:)``.
    public func upload<Value: Decodable & Sendable>(
        _ endPoint: EndPoint, as type: Value.Type, options: RequestOptions = RequestOptions(),
        progress: TransferProgress? = nil, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Value {
        try await prepare(endPoint, options, for: type).upload(progress, as: type)
    }

    /// Sends a request, reports the progress of its body, and decodes the response on the caller's actor.
    public func upload<Value: Decodable>(
        _ endPoint: EndPoint, as type: Value.Type, options: RequestOptions = RequestOptions(),
        progress: TransferProgress? = nil, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Value {
        try await prepare(endPoint, options, for: type).upload(progress).value(type)
    }
}

extension PreparedCall {
    /// Sends the request, and reports the progress of its body. The reader of the response ends the call.
    fileprivate func upload(_ progress: TransferProgress?) async throws -> NetworkResponse {
        guard let progress else { return try await performShared() }
        return try await transfer(progress) {
            try await withUploadProgress(progress) { report in
                try await performShared { request in
                    let length = request.body.isEmpty ? 0 : request.body.length
                    report(0, length)
                    request.options.addBodySent { report($0, length) }
                }
            }
        }
    }

    fileprivate func upload<Value: Decodable & Sendable>(
        _ progress: TransferProgress?, as type: Value.Type
    ) async throws -> Value {
        try await upload(progress).endingCall { try $0.checked().decode(type) }
    }

    /// Runs a transfer as one call of the router, which the progress can cancel. The progress ends with the transfer.
    package func transfer<Output: Sendable>(
        _ progress: TransferProgress?, _ operation: @Sendable () async throws -> Output
    ) async throws -> Output {
        try await environment.run { try await progress.run { try await calls.asOneCall(operation) } }
    }
}
