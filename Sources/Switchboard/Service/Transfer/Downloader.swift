import Foundation

/// One download into a file: goes on where a lost connection left it, and gives the file its name when it is whole.
///
/// A response is added to what is there only when the server says, in answer to `If-Range`, that it is more of the same
/// ([RFC 9110 §13.1.5](https://www.rfc-editor.org/rfc/rfc9110#section-13.1.5)) and from the very byte on that is missing
/// ([§15.3.7](https://www.rfc-editor.org/rfc/rfc9110#section-15.3.7)); in any other case the file begins again.
actor Downloader {
    /// Sends the request, changed, and gives its response, to be read, once its status is accepted.
    typealias Send = @Sendable (_ change: @Sendable (inout NetworkRequest) -> Void) async throws -> NetworkResponse
    /// Looks at the whole file before it has its name, and throws when it is not what it should be.
    typealias Verify = @Sendable (_ file: URL) async throws -> Void

    private let send: Send
    private let file: PartialFile
    private let destination: URL
    private let call: LongCall
    private let progress: TransferProgress?
    private var restarts = 0
    private var fetched: Int64 = 0
    private var question = Question()

    init(
        to destination: URL, isKept: Bool, progress: TransferProgress?, in call: LongCall, send: @escaping Send
    ) throws(NetworkError) {
        self.send = send
        self.destination = destination
        self.call = call
        self.progress = progress
        file = try PartialFile(for: destination, isKept: isKept)
    }

    /// Not to be called twice.
    func run(verify: Verify?) async throws -> NetworkResponse {
        var response = try await fetch()
        if let verify {
            do {
                try await verify(file.url)
            } catch {
                file.discard()  // or it would be gone on with
                if error is CancellationError { throw error }
                throw NetworkError(.verificationFailed, underlying: error).with(response)
            }
        }
        try file.place()
        response.stream = nil
        response.fileURL = destination
        response.metrics.bytesReceived = fetched
        return response
    }

    // MARK: Attempts

    private func fetch() async throws -> NetworkResponse {
        while true {
            let (before, begun) = (file.count, restarts)
            do {
                if let whole = try await exchange() { return whole }
                try noteGain(since: before, begun)
            } catch let error as NetworkError {
                try noteGain(since: before, begun, isPart: false)
                if error.status == 416, before > 0 {
                    try restart()
                    continue
                }
                guard call.isRepeatable, try await call.goesOn(after: error) else {
                    if error.status == 404 || error.status == 410 { file.discard() }
                    throw error
                }
            }
        }
    }

    /// An attempt that brought something ends a row of failures; a part that brought next to nothing is one more.
    private func noteGain(since before: Int64, _ begun: Int, isPart: Bool = true) throws(NetworkError) {
        guard begun == restarts else { return }
        guard file.count - before < 64 << 10 else { return call.restartAttempts() }
        guard isPart, !call.takeAttempt() else { return }
        throw NetworkError(.invalidResponse, reason: "the server sends parts of less than 64 KiB")
    }

    /// Begins again with the first byte. A server that makes it so again and again is given up.
    private func restart() throws(NetworkError) {
        restarts += 1
        guard restarts <= call.policy.maximumAttempts else {
            throw NetworkError(.invalidResponse, reason: "the server changed what it sends \(restarts) times")
        }
        try file.restart()
    }

    // MARK: One exchange

    /// What is known of the request once it is made.
    private struct Question {
        var url = ""
        /// The first byte that was asked for; nil for all of it.
        var offset: Int64?
        /// Whether the endpoint asks for a range itself, so that the file is that range.
        var isOwnRange = false
    }

    /// The response, when the file is whole with it; nil when there is more to be had.
    private func exchange() async throws -> NetworkResponse? {
        let response = try await ask()
        guard response.statusCode != 204, response.statusCode != 205 else {
            throw NetworkError(.noData, reason: "the \(response.statusCode) response has nothing to save").with(
                response)
        }
        let end: Int64?
        if response.statusCode == 206, !question.isOwnRange {
            guard let offset = question.offset else {
                throw NetworkError(.invalidResponse, reason: "it is a part (206), and all was asked for").with(
                    response)
            }
            guard let range = continuation(of: response, from: offset) else {
                try restart()
                return nil
            }
            end = range.upperBound + 1
        } else {
            if file.count > 0 { try restart() }
            end = try begin(response)
        }
        try await receive(response, to: end)
        guard let size = file.origin?.size ?? end, file.count < size else { return response }
        return nil
    }

    private func ask() async throws -> NetworkResponse {
        let box = Protected(Question())
        let (count, origin) = (file.count, file.origin)
        defer { question = box.value }
        let response = try await send { request in
            var question = Question()
            question.url = Redaction.standard.url(request.url?.absoluteString ?? "")
            question.isOwnRange = request.headers.contains("Range")
            // A range of something compressed could not be counted in bytes of the file.
            if !request.headers.contains("Accept-Encoding") { request.headers.add("Accept-Encoding", "identity") }
            if let origin, origin.url == question.url, count > 0, request.method == .get, !question.isOwnRange {
                // What was killed before it had its name is asked for its last byte, so that there is an answer.
                let offset = origin.size.map { min(count, $0 - 1) } ?? count
                if offset > 0 {
                    question.offset = offset
                    request.headers.add("Range", "bytes=\(offset)-")
                    request.headers.add("If-Range", origin.validator)
                }
            }
            box.withLock { $0 = question }
        }
        if let offset = box.value.offset, offset < file.count { try file.cut(to: offset) }
        return response
    }

    /// The bytes that a 206 adds; nil when they are not the ones that are missing, or of something else by now.
    private func continuation(of response: NetworkResponse, from offset: Int64) -> ClosedRange<Int64>? {
        guard let origin = file.origin, !response.isEncoded,
            let range = response.headers["Content-Range"].flatMap(ContentRange.init), let bytes = range.bytes,
            bytes.lowerBound == offset
        else { return nil }
        if let size = range.size, let known = origin.size, size != known { return nil }
        let field = origin.validator.hasPrefix("\"") ? "ETag" : "Last-Modified"
        if let validator = response.headers[field], validator != origin.validator { return nil }
        return bytes
    }

    /// Notes what a new file's bytes are of. Gives their number, when it is announced.
    private func begin(_ response: NetworkResponse) throws(NetworkError) -> Int64? {
        let size = response.announcedLength(of: response.request?.method ?? .get)
        let validator = response.isEncoded || question.isOwnRange ? nil : response.strongValidator
        try file.note(validator.map { PartialFile.Origin(url: question.url, validator: $0, size: size) })
        return size
    }

    /// A silent server is noticed by the total timeout too, not only by that for silence.
    private func receive(_ response: NetworkResponse, to end: Int64?) async throws {
        guard let total = call.request?.timeouts.total, total < .century else {
            return try await read(response, to: end)
        }
        try await withTimeout(max(.zero, total - (call.elapsed?() ?? .zero)), error: NetworkError.overTotal(total)) {
            try await self.read(response, to: end)
        }
    }

    private func read(_ response: NetworkResponse, to end: Int64?) async throws {
        let limits = call.request?.limits ?? Limits()
        let whole = file.origin?.size ?? end
        if let whole, whole > limits.downloadedFile {
            throw tooLarge("\(whole) bytes are announced", limits).with(response)
        }
        progress?.report(file.count, of: whole)
        for try await chunk in response.bytes {
            let count = file.count + Int64(chunk.count)
            guard count <= limits.downloadedFile else {
                throw tooLarge("more than \(file.count) bytes arrived", limits).with(response)
            }
            guard count <= end ?? .max else {
                throw NetworkError(.invalidResponse, reason: "more bytes arrived than the response announced").with(
                    response)
            }
            try file.append(chunk)
            fetched += Int64(chunk.count)
            progress?.report(count, of: whole)
        }
        guard file.count >= end ?? 0 else {
            throw NetworkError(.truncatedBody, reason: "\(file.count) of \(end ?? 0) bytes arrived").with(response)
        }
    }

    private func tooLarge(_ what: String, _ limits: Limits) -> NetworkError {
        NetworkError(.responseTooLarge, reason: "\(what), limits.downloadedFile is \(limits.downloadedFile)")
    }
}

extension NetworkResponse {
    /// Whether the bytes are not those that lie at the server.
    fileprivate var isEncoded: Bool {
        headers["Content-Encoding"].map { !$0.equalsIgnoringCase("identity") } ?? false
    }

    /// What `If-Range` takes: a strong entity tag, or a date of last change that is older than the response by a second
    /// or more ([RFC 9110 §8.8](https://www.rfc-editor.org/rfc/rfc9110#section-8.8)). Nil when there is neither.
    fileprivate var strongValidator: String? {
        if let tag = headers["ETag"] {
            return tag.count > 1 && tag.hasPrefix("\"") && tag.hasSuffix("\"") ? tag : nil
        }
        guard let changed = headers["Last-Modified"], let date = headers["Date"],
            let changedDate = HTTPDate.parse(changed), let sentDate = HTTPDate.parse(date),
            sentDate.timeIntervalSince(changedDate) >= 1
        else { return nil }
        return changed
    }
}
