import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardText

/// The request that URLSession passes to a protocol.
struct ProtocolRequest: Sendable {
    let urlRequest: URLRequest
    let task: URLSessionTask?

    /// Returns the request for the owner. Its body is read while it is sent, except for a short stream on Apple's
    /// systems.
    func networkRequest(for client: ProtocolClient) async throws -> NetworkRequest {
        var headers = HTTPHeaders(urlRequest.sortedFields)
        for field in additionalFields.sortedFields where !headers.contains(field.name) { headers.append(field) }
        // The session frames the body.
        headers.remove("Transfer-Encoding")
        let length = headers["Content-Length"].flatMap { Int64($0) }.flatMap { $0 < 0 ? nil : $0 }
        let body = try await body(length)
        // The session sends the length of the body, which an interceptor may replace.
        if !body.isEmpty { headers.remove("Content-Length") }
        // The options keep their closure, which must not keep the client's delegate.
        let (timeout, policy, takesPieces) = (timeout, urlRequest.cachePolicy, client.takesPieces)
        let report = body.isEmpty ? nil : reportOfSentBytes(of: body.length, to: client)
        // Set by a closure, which keeps the other timeouts of a manager.
        let options = RequestOptions {
            if let timeout { $0.timeouts.idle = timeout > 0 ? .seconds(min(timeout, Duration.century.seconds)) : nil }
            if policy != .useProtocolCachePolicy { $0.cachePolicy = policy }
            if let report { $0.addBodySent(report) }
            $0.streamsResponse = takesPieces
        }
        var request = NetworkRequest(urlRequest.method, urlRequest.url, headers: headers, body: body, options: options)
        if let hosts = redirectingHosts { request.leaveOriginEarlier(of: hosts) }
        return request
    }

    private func body(_ length: Int64?) async throws -> any HTTPBody {
        // An upload task ignores the body of its request.
        var body = try uploadedBody
        if case .none = body {
            if let data = urlRequest.httpBody {
                body = .data(data)
            } else if let stream = urlRequest.httpBodyStream {
                body = .stream(stream)
            }
        }
        switch body {
        case .none: return EmptyBody()
        case .data(let data): return DataBody(data)
        case .file(let file): return FileBody(file)
        case .stream(let stream):
            let reader = StreamReader(stream)
            return try await reader.body(of: length, inMemoryUpTo: Self.streamsMayBeData ? 1 << 20 : 0)
        }
    }

    /// Returns the request after a redirect for a delegate. That of a refused redirect has a URL alone, so it is nil if
    /// the response has no `Location` that is one.
    func proposal(
        for redirection: Result<NetworkRequest, NetworkError>, _ response: NetworkResponse
    ) throws -> URLRequest? {
        if case .success(let next) = redirection { return try URLRequest(redirecting: urlRequest, to: next) }
        guard let location = try? response.location(), let url = URL(location: location, relativeTo: response.url)
        else {
            return nil
        }
        return URLRequest(url: url)
    }

    /// Whether the request may be sent a second time.
    var isRepeatable: Bool {
        if case .stream? = try? uploadedBody { return false }
        return urlRequest.method.isIdempotent && urlRequest.httpBodyStream == nil
    }

    var hasBody: Bool { urlRequest.httpBody != nil || urlRequest.httpBodyStream != nil }

    static var hiddenUpload: NetworkError { unsupported("does not show this upload's body to a URLProtocol") }

    static func unsupported(_ what: String, instead: String? = nil) -> NetworkError {
        let advice = instead.map { "; use \($0)" } ?? ""
        return NetworkError(.unsupported, reason: "Foundation \(what) on this platform\(advice)")
    }
}

/// The location of an upload's bytes.
enum UploadedBody {
    case none
    case data(Data)
    case file(URL)
    case stream(InputStream)
}

/// Reads a stream on a separate queue, because a read may wait for the writer of the stream.
final class StreamReader: @unchecked Sendable {  // only the serial queue uses the stream
    private let stream: InputStream
    private let queue = DispatchQueue(label: "Switchboard.URLSession.stream")

    init(_ stream: InputStream) {
        self.stream = stream
    }

    deinit {
        if stream.streamStatus != .notOpen { stream.close() }
    }

    /// Returns a body that reads the stream once while it is sent. A stream of at most `limit` bytes is read now, and
    /// can be sent again, unless its writer has not written them all: it may wait for the server's answer.
    func body(of length: Int64?, inMemoryUpTo limit: Int) async throws -> any HTTPBody {
        var start = Data()
        while start.count < limit {
            if let length, length > 0, Int64(start.count) == length { return DataBody(start) }
            if length != 0, await waitsForWriter() { break }
            guard let chunk = try await next() else { return DataBody(start) }
            start += chunk
        }
        let rest = Protected(start)
        return StreamBody(length: length, isReplayable: false) {
            HTTPBodyStream {
                let start = rest.swap(Data())
                return start.isEmpty ? try await self.next() : start
            }
        }
    }

    /// Returns whether a read would wait for the writer of the stream.
    private func waitsForWriter() async -> Bool {
        await withCheckedContinuation { continuation in
            queue.async {
                self.openIfNeeded()
                let status = self.stream.streamStatus
                let isOpen = status == .opening || status == .open
                continuation.resume(returning: isOpen && !self.stream.hasBytesAvailable)
            }
        }
    }

    private func openIfNeeded() {
        if stream.streamStatus == .notOpen { stream.open() }
    }

    /// Returns the next bytes, or nil at the end. A canceled task does not wait for them.
    private func next() async throws -> Data? {
        let (chunks, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
        queue.async {
            do {
                if let chunk = try self.read() { continuation.yield(chunk) }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        for try await chunk in chunks { return chunk }
        try Task.checkCancellation()
        return nil
    }

    private func read() throws -> Data? {
        openIfNeeded()
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = stream.read(&buffer, maxLength: buffer.count)
        guard count >= 0 else {
            let reason = stream.streamStatus == .closed ? "was read before" : "failed"
            // Foundation on Linux traps for the error of a stream that has none.
            let error = stream.streamStatus == .error ? stream.streamError : nil
            throw NetworkError(.encodingFailed, reason: "the body's stream \(reason)", underlying: error)
        }
        return count > 0 ? Data(buffer[..<count]) : nil
    }
}

extension NetworkRequest {
    func changed(to request: URLRequest) -> NetworkRequest {
        var changed = self
        changed.method = request.method
        changed.url = request.url
        changed.headers = HTTPHeaders(request.sortedFields)
        if let data = request.httpBody {
            changed.body = DataBody(data)
        } else if !body.isStreamed || !changed.method.allowsBody {
            changed.body = EmptyBody()
        }
        return changed
    }
}

extension URLRequest {
    /// Creates the request after a redirect for a delegate, with its body if that is in memory. It keeps the timeout, the
    /// cache policy and the other properties of `request`, as with URLSession's own redirects.
    init(redirecting request: URLRequest, to next: NetworkRequest) throws {
        guard let url = next.url else { throw NetworkError(.missingURL) }
        self = request
        self.url = url
        httpMethod = next.method.rawValue
        for name in (allHTTPHeaderFields ?? [:]).keys { setValue(nil, forHTTPHeaderField: name) }
        for field in next.allHeaders { addValue(field.value, forHTTPHeaderField: field.name) }
        httpBodyStream = nil
        httpBody = try next.body.isEmpty || next.body.isStreamed ? nil : next.body.encode()
    }

    var method: HTTPMethod { HTTPMethod(rawValue: httpMethod ?? "GET") }

    fileprivate var sortedFields: [HTTPHeader] { (allHTTPHeaderFields ?? [:]).sortedFields }
}

extension [String: String] {
    fileprivate var sortedFields: [HTTPHeader] {
        sorted { $0.key < $1.key }.map { HTTPHeader(name: $0.key, value: $0.value) }
    }
}
