import Foundation
import Switchboard

extension NetworkRouter {
    /// Uploads a file in pieces, by a protocol that can resume after a lost connection.
    ///
    /// ```swift
    /// try await router.upload(
    ///     video, to: .addVideo, by: .tus, state: stateFile)
    /// ```
    ///
    /// The first request opens the upload at the endpoint's URL. Later requests have the endpoint's header fields and
    /// go to the URL that the server returns. If that is another origin, they omit the header fields that belong to one
    /// origin.
    ///
    /// After a lost connection or a temporary failure, the next request asks the server how many bytes it has, and the
    /// upload resumes there. If the server lost the upload, it starts again. `RequestOptions.retry`, or else the
    /// router's `RetryPolicy`, or else 3 limits the failed attempts in a row, and progress resets their count.
    /// `Timeouts` apply to each request.
    ///
    /// - Parameters:
    ///   - file: The file to upload. A change of the file meanwhile throws `NetworkError.Code.encodingFailed`.
    ///   - endPoint: The endpoint that opens uploads. Its body is not sent.
    ///   - flow: The protocol: `.tus`, `.ietf`, ``OCIUpload`` or a custom one.
    ///   - pieceSize: The largest body of one request in bytes, at least 1. Default 16 MiB.
    ///   - state: A file that stores the upload's URL, so that the next call with the same file and endpoint resumes
    ///     the upload, even in another process. Removed when the upload completes. The URL may be a secret, so only the
    ///     owner can read the file. Nil, the default, stores nothing.
    ///   - options: Options for the requests of this upload, which override those of the endpoint. Default none.
    ///   - progress: Receives the progress, and can cancel the upload.
    ///   - isolation: The actor on which the endpoint is read: the caller's.
    /// - Returns: The response to the last request, once its status is accepted.
    /// - Throws: `NetworkError` as from `response(for:options:)`, with `NetworkError.Code.invalidResponse` for a server
    ///   that violates the protocol. `CancellationError` when the task, the router or the progress was canceled.
    @discardableResult
    public func upload(
        _ file: URL, to endPoint: EndPoint, by flow: some UploadFlow, pieceSize: Int64 = 16 << 20, state: URL? = nil,
        options: RequestOptions = RequestOptions(), progress: TransferProgress? = nil,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> NetworkResponse {
        let prepared = prepare(endPoint, options)
        let call = LongCall(on: calls, after: [409, 416, 423])  // the server's offset differs
        let run: @Sendable ((@Sendable (Int64, Int64?) -> Void)?) async throws -> NetworkResponse = { onProgress in
            let upload = try ResumableUploader(
                file, by: flow, pieceSize: pieceSize, stateFile: state, in: call, onProgress: onProgress
            ) { change in
                let response = try await prepared.send { request throws(NetworkError) in
                    try call.join(&request, change)
                }
                try response.handling.check(response)
                return response
            }
            return try await call.run { try await upload.run() }
        }
        return try await prepared.transfer(progress) {
            guard let progress else { return try await run(nil) }
            return try await withUploadProgress(progress, run)
        }
    }
}
