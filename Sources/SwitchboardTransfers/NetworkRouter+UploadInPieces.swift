import Foundation
import Switchboard

extension NetworkRouter {
    /// Uploads a file in pieces, by a protocol that lets a lost upload go on where the server has it.
    ///
    /// ```swift
    /// try await router.upload(video, to: .addVideo, by: .tus, state: stateFile)
    /// ```
    ///
    /// The endpoint's URL opens the upload; the requests that follow have its headers and go where the server says, without
    /// the headers that are meant for one origin when that is another. After a lost connection, and after an answer that may
    /// pass, the server is asked how much it has. A server that has forgotten the upload gets it from the start. So many
    /// attempts in a row may fail as `RequestOptions.retry` says, or the `RetryPolicy` of the router, or else 3; progress
    /// begins a new row. `Timeouts` are for each request.
    ///
    /// - Parameters:
    ///   - file: What to upload. It must not change meanwhile, which is `NetworkError.Code.encodingFailed`.
    ///   - endPoint: Where uploads are opened. Its body is not sent.
    ///   - flow: The protocol: `.tus`, `.ietf`, ``OCIUpload`` or one of your own.
    ///   - pieceSize: The most bytes of one request, at least 1. Default 16 MiB.
    ///   - state: A file in which to keep where the upload is, so that the next call with the same file and endpoint goes
    ///     on with it, in another process too. Gone when the upload is done. It may hold a secret of the server's URL and
    ///     is readable by its owner alone. Nil, the default, for none.
    ///   - options: Options for the requests of this upload, which win over those of the endpoint. Default none.
    ///   - progress: Hears how far it is, and can cancel it.
    /// - Returns: The response to the last request, once its status is accepted.
    /// - Throws: `NetworkError`: that of `response(for:options:)`; `NetworkError.Code.invalidResponse` for a server that
    ///   breaks the protocol; `CancellationError` when the task, the router or the progress was cancelled.
    @discardableResult
    public func upload(
        _ file: URL, to endPoint: EndPoint, by flow: some UploadFlow, pieceSize: Int64 = 16 << 20, state: URL? = nil,
        options: RequestOptions = RequestOptions(), progress: TransferProgress? = nil
    ) async throws -> NetworkResponse {
        let call = LongCall(on: self, after: [409, 416, 423])  // the server has more, or less, than was thought
        let run: @Sendable ((@Sendable (Int64, Int64?) -> Void)?) async throws -> NetworkResponse = { note in
            let upload = try ResumableUploader(
                file, by: flow, pieceSize: pieceSize, stateFile: state, in: call, note: note
            ) { change in
                let response = try await rawResponse(for: endPoint, options: options, accept: nil) {
                    request throws(NetworkError) in try call.join(&request, change)
                }
                try response.handling.check(response)
                return response
            }
            return try await call.run { try await upload.run() }
        }
        return try await transfer(progress, on: self) {
            guard let progress else { return try await run(nil) }
            return try await withUploadProgress(progress, run)
        }
    }
}
