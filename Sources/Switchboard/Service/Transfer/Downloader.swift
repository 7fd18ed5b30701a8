import Foundation
import SwitchboardText

/// Downloads one response into a temporary file. It resumes after a lost connection, and renames the complete file.
///
/// It appends a response only if the server confirms by `If-Range` that the content is unchanged ([RFC 9110
/// §13.1.5](https://www.rfc-editor.org/rfc/rfc9110#section-13.1.5)), and the response starts at the first missing byte
/// ([§15.3.7](https://www.rfc-editor.org/rfc/rfc9110#section-15.3.7)). In any other case the file begins again.
actor Downloader {
    private let download: Download
    private let request: NetworkRequest
    private let policy: RetryPolicy
    private let call: Call
    private let send: @Sendable (NetworkRequest) async throws -> NetworkResponse
    private let file: PartialFile
    /// The URL, with secrets replaced.
    private let url: String
    /// Whether the endpoint itself requests a range, so that the file is that range.
    private let isOwnRange: Bool
    private var restarts = 0
    private var receivedCount: Int64 = 0

    init(
        _ download: Download, _ request: NetworkRequest, _ policy: RetryPolicy,
        _ send: @escaping @Sendable (NetworkRequest) async throws -> NetworkResponse
    ) throws(NetworkError) {
        var request = request
        request.options.download = nil
        request.options.streamsResponse = true
        // A range of a compressed body cannot be counted in bytes of the file.
        if !request.headers.contains("Accept-Encoding") { request.headers.add("Accept-Encoding", "identity") }
        call = request.call ?? Call()
        request.call = call
        url = Redaction.standard.url(request.url?.absoluteString ?? "")
        isOwnRange = request.headers.contains("Range")
        (self.download, self.request, self.policy, self.send) = (download, request, policy, send)
        file = try PartialFile(for: download.file, isKept: download.isKept)
    }

    /// Downloads the file. Must be called only once. The response has a file unless its status was not accepted or has
    /// no body.
    func run() async throws -> NetworkResponse {
        // The runtime may release this actor after the caller has continued.
        defer { file.finish() }
        var (response, isWhole) = try await fetch()
        guard isWhole else { return response }
        try file.checkName()
        if let verify = download.verify {
            do {
                try await withOwnTask { [url = file.url] in try await verify(url) }
            } catch {
                if error is CancellationError { throw error }
                try Call.check()  // after a cancellation, the closure's error does not mean an invalid file
                file.discard()  // prevents a resumption
                await response.request?[RefusedDownload.self]?(response)
                throw NetworkError(.verificationFailed, underlying: error).with(response)
            }
        }
        try Call.check()  // a canceled body may have ended early
        try file.moveToDestination()
        response.endStream(after: receivedCount)
        if !isSaved(response.statusCode) {
            // The endpoint accepts the whole file alone, whose end arrived as a part.
            response.statusCode = 200
            for name in ["Content-Range", "Content-Length"] { response.headers.remove(name) }
        }
        response.fileURL = download.file
        response.body = Data()  // that of a cache or of a session without streams
        return response
    }

    /// Whether a later request can append to the file.
    private var isResumable: Bool { request.method == .get && !isOwnRange }

    /// Returns whether the body of a response with this status is saved.
    private func isSaved(_ status: Int) -> Bool {
        (200..<300).contains(status) && status != 204 && status != 205
            && request.options.acceptedStatusCodes.contains(status)
    }

    // MARK: Attempts

    private enum Outcome {
        case part, whole(NetworkResponse), refused(NetworkResponse)
    }

    private func fetch() async throws -> (NetworkResponse, isWhole: Bool) {
        let left = policy.timeLeft(of: request)
        while true {
            let (startCount, startRestarts) = (file.count, restarts)
            let result: Result<NetworkResponse, NetworkError>
            do {
                switch try await attempt() {
                case .whole(let response): return (response, true)
                case .refused(let response): result = .success(response)
                case .part:
                    try recordProgress(since: startCount, startRestarts)
                    continue
                }
            } catch let error as NetworkError {
                result = .failure(error)
            }
            try recordProgress(since: startCount, startRestarts, isPart: false)
            let response = try? result.get()
            let status = response?.statusCode
            if let response, status == 416, startCount > 0 {
                if !(try recordEnd(in: response)) { try restart() }
                continue
            }
            guard policy.allowsRetry(of: request, after: result),
                try await policy.waitForRetry(after: result, of: request, within: left)
            else {
                if status == 404 || status == 410 { file.discard() }
                return (try result.mapError(mentioningKeptBytes).get(), false)
            }
        }
    }

    /// Returns an error whose reason has the number of bytes that a later call can resume.
    private func mentioningKeptBytes(_ error: NetworkError) -> NetworkError {
        guard file.isKept, isResumable, file.origin?.url == url, file.count > 0, !file.hasLostName else {
            return error
        }
        var error = error
        error.reason = (error.reason.map { $0 + "; " } ?? "") + "\(file.count) bytes are kept for the next call"
        return error
    }

    /// Restarts the count of attempts after progress of 64 KiB. A partial response with less progress counts as an
    /// attempt.
    private func recordProgress(since startCount: Int64, _ startRestarts: Int, isPart: Bool = true) throws(NetworkError)
    {
        guard startRestarts == restarts else { return }
        guard file.count - startCount < 64 << 10 else { return call.restartAttempts() }
        guard isPart, !call.takeAttempt(within: policy.maximumAttempts) else { return }
        throw NetworkError(.invalidResponse, reason: "the server sends parts of less than 64 KiB")
    }

    /// Records the size of a file of unknown length if a 416 says that all its bytes have arrived. The next request
    /// then fetches the last byte, to receive a response.
    private func recordEnd(in response: NetworkResponse) throws(NetworkError) -> Bool {
        guard var origin = file.origin, origin.size == nil, let field = response.headers["Content-Range"],
            ContentRange(field)?.size == file.count
        else { return false }
        origin.size = file.count
        try file.record(origin)
        return true
    }

    /// Begins again with the first byte. Throws if the server causes this too often.
    private func restart() throws(NetworkError) {
        restarts += 1
        guard restarts <= policy.maximumAttempts else {
            throw NetworkError(
                .invalidResponse, reason: "the file changed on the server during the download, \(restarts) times")
        }
        try file.restart()
    }

    // MARK: One attempt

    private func attempt() async throws -> Outcome {
        let (response, offset) = try await sendRequest()
        // The endpoint accepts the whole file, and this download itself requests a part.
        let isRest = response.statusCode == 206 && offset != nil && isSaved(200)
        guard isRest || isSaved(response.statusCode) else {
            return .refused(try await response.inMemory(request.limits))
        }
        let end: Int64?
        let isPart = response.statusCode == 206 && !isOwnRange
        if isPart {
            guard let offset else {
                throw NetworkError(
                    .invalidResponse, reason: "the response is partial (206), but the whole file was requested"
                ).with(response)
            }
            guard let range = continuation(of: response, from: offset), let last = range.bytes?.upperBound else {
                try restart()
                return .part
            }
            // A first response of unknown length does not give the size of the file. A partial response may.
            if let size = range.size, var origin = file.origin {
                origin.size = size
                try file.record(origin)
            }
            end = last + 1
        } else {
            if file.count > 0 { try restart() }
            end = try beginFile(response)
        }
        // A part of unknown size does not say whether it is the last one.
        let size = file.origin?.size ?? (isPart ? nil : end)
        try await read(response, to: end, of: size)
        return file.count < size ?? (isPart ? .max : 0) ? .part : .whole(response)
    }

    /// Sends a request for the missing bytes. Returns the response, and the first byte requested or nil for the whole
    /// file.
    private func sendRequest() async throws -> (NetworkResponse, offset: Int64?) {
        var (request, offset) = (request, nil as Int64?)
        if let origin = file.origin, origin.url == url, isResumable {
            // A complete file that was not renamed requests its last byte, to receive a response.
            let first = origin.size.map { min(file.count, $0 - 1) } ?? file.count
            if first > 0 {
                offset = first
                request.headers.add("Range", "bytes=\(first)-")
                request.headers.add("If-Range", origin.validator)
            }
        }
        let response = try await send(request)
        if let offset, offset < file.count { try file.cut(to: offset) }
        return (response, offset)
    }

    /// Returns the range of a 206 response. Nil when it is not the missing range, or the content has changed.
    private func continuation(of response: NetworkResponse, from offset: Int64) -> ContentRange? {
        guard let origin = file.origin, !response.headers.isEncoded,
            let range = response.headers["Content-Range"].flatMap(ContentRange.init), let bytes = range.bytes,
            bytes.lowerBound == offset
        else { return nil }
        if let size = origin.size, range.size ?? size != size || bytes.upperBound >= size { return nil }
        let field = origin.validator.utf8.first == .quote ? "ETag" : "Last-Modified"
        if let validator = response.headers[field], !validator.hasBytes(of: origin.validator) { return nil }
        return range
    }

    /// Records the origin of a new file's bytes. Returns their number, or nil when it is not announced.
    private func beginFile(_ response: NetworkResponse) throws(NetworkError) -> Int64? {
        let size = response.announcedLength(of: request.method)
        // Another method's response is never resumed, and its validator may not be that of the URL's content.
        let validator = isResumable && !response.headers.isEncoded ? response.headers.strongValidator : nil
        try file.record(validator.map { PartialFile.Origin(url: url, validator: $0, size: size) })
        return size
    }

    private func read(_ response: NetworkResponse, to end: Int64?, of whole: Int64?) async throws {
        if let size = whole ?? response.announcedSize(of: request.method), size > request.limits.downloadedFile {
            throw tooLarge("\(size) bytes are announced").with(response)
        }
        download.progress?.report(file.count, of: whole)
        var read: Int64 = 0
        // Excludes the bytes of a cache.
        defer { receivedCount += max(0, read - response.storedCount) }
        for try await chunk in response.bytes {
            let count = file.count + Int64(chunk.count)
            guard count <= request.limits.downloadedFile else {
                throw tooLarge("more than \(file.count) bytes arrived").with(response)
            }
            guard count <= end ?? .max else {
                throw NetworkError(.invalidResponse, reason: "more bytes arrived than the response announced").with(
                    response)
            }
            try file.append(chunk)
            read += Int64(chunk.count)
            download.progress?.report(count, of: whole)
        }
        guard file.count >= end ?? 0 else {
            throw NetworkError(.truncatedBody, reason: "\(file.count) of \(end ?? 0) bytes arrived").with(response)
        }
    }

    private func tooLarge(_ what: String) -> NetworkError {
        NetworkError(
            .responseTooLarge, reason: "\(what), limits.downloadedFile is \(request.limits.downloadedFile)")
    }
}

extension NetworkResponse {
    /// Removes the stream, from which `count` bytes were read.
    fileprivate mutating func endStream(after count: Int64) {
        if let result = stream?.result { (trailers, metrics) = result }
        metrics.bytesReceived = count
        stream = nil
    }

    fileprivate func inMemory(_ limits: ResponseLimits) async throws -> NetworkResponse {
        guard let stream else { return self }
        var response = self
        for try await chunk in stream {
            guard response.body.count + chunk.count <= limits.responseBody else {
                throw limits.bodyTooLarge("more than \(response.body.count) bytes arrived").with(response)
            }
            response.body += chunk
        }
        response.endStream(after: Int64(response.body.count))
        return response
    }

    /// The number of bytes of the body that came from a cache and were read.
    fileprivate var storedCount: Int64 { stream?.storedCount ?? (cacheAge == nil ? 0 : Int64(body.count)) }
}
