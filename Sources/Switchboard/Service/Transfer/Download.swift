import Foundation

/// A download: the file that receives the response, and its settings.
struct Download: Sendable {
    var file: URL
    /// Whether a failed download keeps the bytes that have arrived.
    var isKept = false
    /// The retry policy if neither the request nor the chain has one.
    var retry = RetryPolicy.never
    var progress: TransferProgress?
    /// Checks the complete file before it gets its name, and throws to reject it.
    var verify: (@Sendable (_ file: URL) async throws -> Void)?

    /// Sends a request until the file is complete. A response that is not accepted, or has no body, is returned in
    /// memory.
    func run(
        _ request: NetworkRequest, under shared: RetryPolicy?, _ next: Next
    ) async throws -> NetworkResponse {
        let own = shared == nil ? request.options.retry : nil
        let policy = shared?.policy(for: request) ?? own ?? retry
        var request = request
        try policy.addKey(to: &request)  // one for all attempts
        return try await Downloader(self, request, policy) { request in
            // The request's own policy wraps each request of the download, as a policy of the chain does.
            guard let own else { return try await next(request) }
            return try await own.intercept(request, next: next)
        }.run()
    }
}

extension NetworkRequest {
    /// The download that saves the response of this request. Nil when the response stays in memory or is a stream.
    var savingDownload: Download? {
        guard let download = options.download, !options.streamsResponse, method != .head else { return nil }
        return download
    }
}

extension RequestOptions {
    /// The download that saves the response. Nil, the default, for a response in memory.
    var download: Download? {
        get { hasValues ? self[DownloadOption.self] : nil }  // a copy of the large default is slow
        set { self[DownloadOption.self] = newValue }
    }

    /// Keeps the response in memory, even for an endpoint of a download.
    package mutating func keepResponseInMemory() {
        download = nil
        streamsResponse = false
    }
}

private enum DownloadOption: RequestOption { static let defaultValue: Download? = nil }

/// A closure that removes a response from a cache, because the app rejected the file that was downloaded with it.
package enum RefusedDownload: RequestOption {
    package static let defaultValue: (@Sendable (NetworkResponse) async -> Void)? = nil
}
