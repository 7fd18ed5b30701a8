import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardJSON
import SwitchboardText

extension NetworkRouter {
    /// Uploads a file in pieces, by a protocol that can resume after a lost connection.
    ///
    /// ```swift
    /// try await router.upload(
    ///     .addVideo, from: video, by: .tus, stateFile: stateFile)
    /// ```
    ///
    /// The first request creates the upload at the endpoint's URL. Later requests have the endpoint's header fields and
    /// go to the URL that the server returns. Requests to another origin omit the header fields that belong to one
    /// origin.
    ///
    /// After a lost connection or a temporary failure, the next request asks how many bytes the server has, and the
    /// upload resumes there. If the server lost the upload, it starts again. `RequestOptions.retry`, or else the
    /// router's `RetryPolicy`, or else 3 limits the consecutive failed attempts, and progress resets their count.
    /// `Timeouts` apply to each request.
    ///
    /// - Parameters:
    ///   - endPoint: The endpoint that creates uploads. Its body is not sent.
    ///   - file: The file to upload. A change of the file meanwhile throws `NetworkError.Code.encodingFailed`.
    ///   - flow: The protocol: `.tus`, `.ietf` or a custom one.
    ///   - pieceSize: The largest body of one request in bytes, at least 1, within the limits of the server. Default 16
    ///     MiB.
    ///   - stateFile: A file that stores the upload's URL, so that the next call with the same endpoint and a file of
    ///     the same size and modification time resumes the upload, even in another process. Removed when the upload
    ///     completes. The URL may be a secret, so only the owner can read the file. Nil, the default, stores nothing.
    ///   - options: Options for the requests of this upload, which override those of the endpoint. Default none.
    ///   - progress: Receives the progress, and can cancel the upload.
    ///   - isolation: The actor on which the endpoint is read: the caller's.
    /// - Returns: The response to the last request, once its status is accepted. Only a 2xx is accepted, even
    ///   if the options accept other statuses.
    /// - Throws: `NetworkError` as from `response(for:options:)`, with `NetworkError.Code.invalidResponse` for a server
    ///   that violates the protocol, `NetworkError.Code.invalidRequest` for a piece size below 1,
    ///   `NetworkError.Code.unreadableFile` for a file that cannot be read or a state file that other users can access,
    ///   and `NetworkError.Code.cannotWriteFile` for a state file that cannot be written. `CancellationError` when the
    ///   task, the router or the progress was canceled.
    @discardableResult
    public func upload(
        _ endPoint: EndPoint, from file: URL, by flow: some UploadFlow, pieceSize: Int64 = 16 << 20,
        stateFile: URL? = nil, options: RequestOptions = RequestOptions(), progress: TransferProgress? = nil,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> NetworkResponse {
        var options = options
        options.compressesBody = false  // the pieces are sent as they are
        let prepared = prepare(endPoint, options)
        let call = LongCall(on: calls)
        let run: @Sendable ((@Sendable (Int64, Int64?) -> Void)?) async throws -> NetworkResponse = { onProgress in
            let upload = try ResumableUploader(
                file, by: flow, pieceSize: pieceSize, stateFile: stateFile, in: call, onProgress: onProgress
            ) { change in
                let response = try await prepared.send { request throws(NetworkError) in
                    request.changeForUpload()
                    try call.join(&request, change)
                }
                try response.checkStatus()
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

/// Uploads one file in pieces. After a lost connection, it asks how many bytes the server has, and resumes there.
actor ResumableUploader {
    /// Changes and sends the endpoint's request, and returns the response once its status is accepted.
    typealias Send =
        @Sendable (_ change: @escaping PreparedCall.Change) async throws -> NetworkResponse

    private let file: URL
    private let flow: any UploadFlow
    private var pieceSize: Int64
    private let stateFile: URL?
    private let call: LongCall
    private let onProgress: (@Sendable (Int64, Int64?) -> Void)?
    private let send: Send
    private let length: Int64
    private let modified: Double
    /// The upload that was created. Nil before.
    private var target: UploadState?
    /// The highest number of bytes that the server confirmed for this upload, or -1.
    private var highest: Int64 = -1
    /// The number of times that the server lost data.
    private var losses = 0
    /// Whether this call created the upload, so that its URL belongs to this endpoint.
    private var isCreatedHere = false
    /// Whether the upload is complete if the server has all bytes, as the response to the creation or to the last
    /// offset request stated.
    private var isComplete = true
    /// Whether the current attempt follows an error, which already counted it.
    private var isRecovering = false
    /// Whether the saved state belongs to another endpoint.
    private let isForAnotherEndPoint = Protected(false)

    init(
        _ file: URL, by flow: any UploadFlow, pieceSize: Int64, stateFile: URL?, in call: LongCall,
        onProgress: (@Sendable (Int64, Int64?) -> Void)?, send: @escaping Send
    ) throws(NetworkError) {
        guard pieceSize > 0 else {
            throw NetworkError(.invalidRequest, reason: "pieces of \(pieceSize) bytes cannot be sent")
        }
        self.file = file
        self.flow = flow
        self.pieceSize = pieceSize
        self.stateFile = stateFile
        self.call = call
        self.onProgress = onProgress
        self.send = send
        (length, modified) = try file.sizeAndModification()
    }

    /// Uploads the file. Call it once.
    func run() async throws -> NetworkResponse {
        if let state = try UploadState.read(stateFile), state.length == length, state.changed == modified {
            target = state
        }
        var offset: Int64?
        var last: NetworkResponse?
        while true {
            do {
                let start = try await confirmedOffset(offset)
                offset = nil
                onProgress?(start, length)
                guard try file.sizeAndModification() == (length, modified) else {
                    let reason = "\(file.path.quotedInFull) changed while it was uploaded"
                    throw NetworkError(.encodingFailed, reason: reason)
                }
                guard start == length, last != nil || isComplete else {
                    (offset, last) = try await sendPiece(from: start)
                    continue
                }
                // If the server had all bytes before this call, its response about the offset is the result.
                let end: NetworkResponse
                if let response = try await complete() ?? last {
                    end = response
                } else {
                    end = try await sendOffsetRequest()
                }
                removeState()
                return end
            } catch let error as NetworkError {
                // The result is the response of the last request, never of one before an error.
                (offset, last) = (nil, nil)
                try await recover(from: error)
            }
        }
    }

    /// Returns the number of bytes that the server has: the number that its last response reported, or that of a new
    /// request. Counts attempts without progress.
    private func confirmedOffset(_ reported: Int64?) async throws -> Int64 {
        var offset = reported
        if offset == nil { offset = try await target == nil ? create() : requestOffset() }
        guard let offset else { throw serverError("does not say how much of the upload it has") }
        guard (0...length).contains(offset) else { throw serverError("has \(offset) of \(length) bytes") }
        if isRecovering, offset < highest {
            guard countLoss() else { throw serverError("lost the upload, \(losses.counted("time"))") }
            highest = offset
        }
        let progress = offset - highest
        // Stops when a server accepts almost nothing of each piece, which would repeat the upload forever.
        if highest < 0 || progress >= min(pieceSize, 64 << 10) || progress > 0 && offset == length {
            call.restartAttempts()
        } else if !isRecovering, offset < length {
            guard call.takeAttempt() else { throw serverError("accepts no data") }
        }
        isRecovering = false
        highest = max(highest, offset)
        return offset
    }

    // MARK: Recovery

    private func recover(from error: NetworkError) async throws {
        if isForAnotherEndPoint.swap(false) {
            target = nil
            return
        }
        // An interceptor may throw the error of another request.
        let response = error.request?.id == call.request?.id ? error.response : nil
        if let response, flow.isResult(response) {
            removeState()
            throw error
        }
        // Creates the upload again if the server lost it. A 403 says so of an offset request. A piece may be forbidden for
        // another reason, so the next request asks for the offset.
        let isSafe = error.request?.method.isSafe == true
        if let status = response?.statusCode, target != nil, [404, 410].contains(status) || status == 403 && isSafe {
            if status != 403 { removeState() }
            guard countLoss(), call.takeAttempt() else { throw error }
            target = nil
            highest = min(highest, 0)
        } else {
            // The server may have another offset. A creation has none.
            let statuses: Set<Int> = target == nil ? [] : [403, 409, 416, 423]
            guard try await call.waitForRetry(after: error, or: statuses) else { throw error }
        }
        isRecovering = true
    }

    /// Counts a loss. Returns false at the limit. Losses are counted separately, because sending the file again is progress,
    /// which resets the count of attempts.
    private func countLoss() -> Bool {
        losses += 1
        return losses < call.policy.maximumAttempts
    }

    private func removeState() {
        if let stateFile { try? PrivateFile.remove(stateFile) }
    }

    private func serverError(_ problem: String, _ response: NetworkResponse? = nil) -> NetworkError {
        let error = NetworkError(.invalidResponse, reason: "the server \(problem)")
        return response.map(error.with) ?? error
    }

    // MARK: Steps

    private func create() async throws -> Int64? {
        let endPoint = Protected("")
        let response = try await send { [flow, length] request in
            endPoint.withLock { $0 = Self.name(of: request) }
            request.body = EmptyBody()
            flow.prepareCreation(&request, length: length)
        }
        pieceSize = max(1, flow.pieceSize(pieceSize, after: response))
        guard let url = try response.uploadURL() else {
            throw serverError("does not say where the upload is to go", response)
        }
        try save(url, chosenBy: response, for: endPoint.value)
        isCreatedHere = true
        isComplete = flow.isComplete(after: response)
        return flow.offset(after: response, sent: nil)
    }

    private func requestOffset() async throws -> Int64? {
        let response = try await sendOffsetRequest()
        isComplete = flow.isComplete(after: response)
        return flow.offset(after: response, sent: nil)
    }

    private func sendOffsetRequest() async throws -> NetworkResponse {
        try await sendToTarget { [flow] request in
            flow.prepareOffsetRequest(&request)
            // A cached response would have an old offset.
            request.headers.addMissing(["Cache-Control": "no-store"])
        }
    }

    private func sendPiece(from start: Int64) async throws -> (Int64?, NetworkResponse) {
        let piece = start..<start + max(0, min(length - start, pieceSize))
        var policy = call.policy
        policy.maximumAttempts = 1
        let response = try await sendToTarget { [flow, file, length, onProgress, policy] request in
            if !piece.isEmpty { request.body = FileBody(file, range: piece) }
            if let onProgress { request.options.addBodySent { onProgress(piece.lowerBound + $0, length) } }
            flow.preparePiece(&request, piece, of: length)
            // After an error, the next request asks for the offset. An interceptor would send the piece to its old offset.
            request.options.retry = policy
        }
        guard let offset = flow.offset(after: response, sent: piece.upperBound) else { return (nil, response) }
        guard offset <= piece.upperBound else {
            throw serverError("has \(offset) bytes, and was sent \(piece.upperBound)", response)
        }
        return (offset, response)
    }

    private func complete() async throws -> NetworkResponse? {
        var probe = NetworkRequest(.get, target?.location)
        guard flow.prepareCompletion(&probe, length: length) else { return nil }
        return try await sendToTarget { [flow, length] request in _ = flow.prepareCompletion(&request, length: length) }
    }

    /// Sends a request to the upload's URL, which each response may change.
    private func sendToTarget(
        _ change: @escaping @Sendable (inout NetworkRequest) -> Void
    ) async throws -> NetworkResponse {
        guard let target else { throw NetworkError(.missingURL) }
        let response = try await send { [isForAnotherEndPoint, isCreatedHere] request throws(NetworkError) in
            // The endpoint may also not use the URL, for example one with http.
            let isOfEndPoint =
                Self.name(of: request) == target.endPoint && (try? request.moved(to: target.location)) != nil
            guard isCreatedHere || isOfEndPoint else {
                _ = isForAnotherEndPoint.swap(true)
                throw NetworkError(
                    .invalidRequest, reason: "the saved state belongs to an upload to \(target.endPoint)")
            }
            if target.isChosenElsewhere { request.leaveOrigin() }
            request = try request.moved(to: target.location)
            // The app's own key identifies the creation. A server would repeat its response for each piece.
            if request.options.idempotencyKey != .unique { request.options.idempotencyKey = nil }
            request.headers.remove(IdempotencyKey.field)
            request.body = EmptyBody()
            change(&request)
        }
        pieceSize = max(1, flow.pieceSize(pieceSize, after: response))
        // The result may name what the server has created.
        guard response.request?.method != .put, !flow.isResult(response) else { return response }
        if let moved = try response.uploadURL(), moved != target.location {
            try save(moved, chosenBy: response, for: target.endPoint)
        }
        return response
    }

    private func save(
        _ url: URL, chosenBy response: NetworkResponse, for endPoint: String
    ) throws(NetworkError) {
        let state = UploadState(
            endPoint: endPoint, location: url, isChosenElsewhere: response.passedAnotherOrigin, length: length,
            changed: modified)
        target = state
        try state.write(stateFile)
    }

    private static func name(of request: NetworkRequest) -> String {
        Redaction.standard.url(request.url?.absoluteString ?? "")
    }
}

extension NetworkRequest {
    /// Changes the options and header fields that do not suit an upload in pieces.
    fileprivate mutating func changeForUpload() {
        options.keepResponseInMemory()
        options.keepsEmptyBody = true  // a server would add a body of the creation to the file
        let accepted = options.acceptedStatusCodes
        options.acceptedStatusCodes = .init { (200..<300).contains($0) && accepted.contains($0) }
    }
}

extension NetworkResponse {
    /// Returns the URL of the field `Location`, or nil without a valid one.
    fileprivate func uploadURL() throws -> URL? {
        guard let value = try location(), let url = URL(location: value, relativeTo: url ?? request?.url),
            URLFault.of(url) == nil
        else { return nil }
        return url
    }
}

/// The saved state of an upload, which another process can resume.
struct UploadState: Codable, Equatable {
    /// The endpoint's URL with secrets masked.
    var endPoint: String
    /// The upload's URL. Many servers accept pieces from anyone who has it, so only the owner can read the file.
    var location: URL
    /// Whether an origin other than the endpoint's chose the URL, which then receives no credentials.
    var isChosenElsewhere: Bool
    /// The file's size in bytes and time of last change, in seconds since 1970.
    var length: Int64
    var changed: Double

    /// Reads the state. Nil without a file, or for contents that cannot be decoded.
    ///
    /// - Throws: `NetworkError.Code.unreadableFile` for an existing file that cannot be read, or that other users own, can
    ///   write or can read. It is not replaced.
    static func read(_ file: URL?) throws(NetworkError) -> UploadState? {
        guard let file else { return nil }
        do {
            return try PrivateFile.read(file, limit: 1 << 20).flatMap {
                try? FastJSONDecoder().decode(UploadState.self, from: $0)
            }
        } catch {
            let reason = "the state of the upload, \(file.path.quotedInFull): \(error.localizedDescription)"
            throw NetworkError(.unreadableFile, reason: reason, underlying: error)
        }
    }

    func write(_ file: URL?) throws(NetworkError) {
        guard let file else { return }
        do {
            try PrivateFile.write(JSONEncoder().encode(self), to: file, isSynchronized: false)
        } catch {
            let reason = "the state of the upload, \(file.path.quotedInFull): \(PrivateFile.cause(of: error))"
            throw NetworkError(.cannotWriteFile, reason: reason, underlying: error)
        }
    }
}

extension URL {
    /// Returns the size and the time of last change of the regular file.
    func sizeAndModification() throws(NetworkError) -> (length: Int64, changed: Double) {
        guard let length = sizeOfFile, access(path, R_OK) == 0,
            // The attributes of a symbolic link are its own.
            let date = try? FileManager.default.attributesOfItem(atPath: resolvingSymlinksInPath().path)[
                .modificationDate] as? Date
        else {
            throw NetworkError(.unreadableFile, reason: path.quotedInFull)
        }
        return (length, date.timeIntervalSince1970)
    }
}
