import Foundation

/// A download: the file that receives the response, and its settings.
package struct Download: Sendable {
    /// The destination of the download.
    var file: URL
    /// Whether a failed download keeps the bytes that have arrived.
    var isKept = false
    /// The retry policy if neither the request nor the chain has one.
    var retry = RetryPolicy.never
    var progress: TransferProgress?
    /// Checks the complete file before it gets its name, and throws to reject it.
    var verify: (@Sendable (_ file: URL) async throws -> Void)?

    /// Sends a request until the file is complete. A response that is not accepted, or has no body to save, is returned
    /// in memory.
    func run(
        _ request: NetworkRequest, under shared: RetryPolicy?, _ send: @escaping Downloader.Send
    ) async throws -> NetworkResponse {
        let policy = shared?.policy(for: request) ?? request.options.retry ?? retry
        if shared == nil { policy.limit?.countCall() }
        let isAccepted = request.options.isDownloadAccepted
        let isSaved: Downloader.Rule = { (200..<300).contains($0) && $0 != 204 && $0 != 205 && isAccepted($0) }
        guard let progress else {
            return try await Downloader(self, request, policy, isSaved: isSaved, send).run()
        }
        return try await progress.run {
            try await Downloader(self, request, policy, isSaved: isSaved, send).run()
        }
    }
}

extension RequestOptions {
    /// The download that saves the response. Nil, the default, for a response in memory.
    var download: Download? {
        get { self[DownloadOption.self] }
        set { self[DownloadOption.self] = newValue }
    }

    /// The rule for statuses whose body a download may save under the file's name. The response handling, in a higher
    /// layer, sets it.
    var isDownloadAccepted: @Sendable (Int) -> Bool {
        get { self[DownloadAcceptedOption.self] }
        set { self[DownloadAcceptedOption.self] = newValue }
    }

    /// Whether errors of the transport have the published text. The response handling, in a higher layer, sets it.
    var keepsPublishedTexts: Bool {
        get { self[PublishedTextsOption.self] }
        set { self[PublishedTextsOption.self] = newValue }
    }

    /// Keeps the response in memory, whatever else the endpoint requests.
    package mutating func holdResponse() {
        download = nil
        streamsResponse = false
    }
}

private enum DownloadOption: RequestOption { static let defaultValue: Download? = nil }
private enum DownloadAcceptedOption: RequestOption { static let defaultValue: @Sendable (Int) -> Bool = { _ in true } }

private enum PublishedTextsOption: RequestOption { static let defaultValue = false }
