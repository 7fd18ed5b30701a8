import Foundation

/// The file that a request's response goes into, and how.
package struct Download: Sendable {
    /// Where to save it.
    var file: URL
    /// Whether what has arrived is kept when the download fails.
    var isKept = false
    /// How it is sent again where neither the request nor the chain says so.
    var retry = RetryPolicy.never
    var progress: TransferProgress?
    /// Looks at the whole file before it has its name, and throws when it is not what it should be.
    var verify: (@Sendable (_ file: URL) async throws -> Void)?

    /// Sends a request until the file is whole. A response that is not taken for success, or has no body to save, comes as it
    /// is, in memory.
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

    /// Saves a response that is here.
    func save(_ response: NetworkResponse) async throws -> NetworkResponse {
        guard response.statusCode != 204, response.statusCode != 205 else {
            let reason = "the \(response.statusCode) response has nothing to save"
            throw NetworkError(.noData, reason: reason).with(response)
        }
        let request = response.request ?? NetworkRequest(.get, response.url)
        return try await Downloader(self, request, .never, isSaved: { _ in true }, { _ in response }).run()
    }
}

extension RequestOptions {
    /// The file that the response goes into; nil, the default, for memory.
    var download: Download? {
        get { self[DownloadOption.self] }
        set { self[DownloadOption.self] = newValue }
    }

    /// Whether a download with this status may take its file's name: what the response handling accepts, which is of a
    /// higher layer.
    var isDownloadAccepted: @Sendable (Int) -> Bool {
        get { self[DownloadAcceptedOption.self] }
        set { self[DownloadAcceptedOption.self] = newValue }
    }

    /// Has the response in memory, whatever else the endpoint asks for.
    package mutating func holdResponse() {
        download = nil
        streamsResponse = false
    }
}

private enum DownloadOption: RequestOption { static let defaultValue: Download? = nil }
private enum DownloadAcceptedOption: RequestOption { static let defaultValue: @Sendable (Int) -> Bool = { _ in true } }
