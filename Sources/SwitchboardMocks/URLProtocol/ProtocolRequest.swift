import Dispatch
import Foundation
import Switchboard
import SwitchboardPlatform

/// The request that URLSession passes to a protocol.
struct ProtocolRequest: Sendable {
    let urlRequest: URLRequest
    let task: URLSessionTask?

    /// The request for a stub, with its body read from wherever it is.
    var networkRequest: NetworkRequest {
        get async throws {
            let body = try await body
            let timeout = timeout
            let options = RequestOptions {
                $0.timeouts = Timeouts(idle: timeout > 0 ? .seconds(min(timeout, Duration.century.seconds)) : nil)
                $0.limits.responseBody = .max
                $0.streamsResponse = ProtocolClient.takesPieces
            }
            return NetworkRequest(
                urlRequest.method, urlRequest.url, headers: headers,
                body: body.isEmpty ? EmptyBody() : DataBody(body), options: options)
        }
    }

    private var headers: HTTPHeaders {
        var headers = HTTPHeaders(urlRequest.sortedFields)
        for field in additionalFields.sortedFields where !headers.contains(field.name) { headers.append(field) }
        return headers
    }

    private var body: Data {
        get async throws {
            if let data = urlRequest.httpBody { return data }
            if let stream = urlRequest.httpBodyStream { return try await UploadedBody.stream(stream).read() }
            return try await uploadedBody.read()
        }
    }
}

extension NetworkRequest {
    /// Returns this request with a delegate's changes.
    func changed(to request: URLRequest) -> NetworkRequest {
        var changed = self
        changed.method = request.method
        changed.url = request.url
        changed.headers = HTTPHeaders(request.sortedFields)
        changed.body = request.httpBody.map { DataBody($0) } ?? EmptyBody() as any HTTPBody
        return changed
    }
}

extension URLRequest {
    /// Creates a request with its body in memory.
    init(_ request: NetworkRequest) throws {
        guard let url = request.url else { throw NetworkError(.missingURL) }
        self.init(url: url)
        httpMethod = request.method.rawValue
        for field in request.allHeaders { addValue(field.value, forHTTPHeaderField: field.name) }
        if !request.body.isEmpty { httpBody = try request.body.encode() }
    }

    fileprivate var method: HTTPMethod { HTTPMethod(rawValue: httpMethod ?? "GET") }

    var sortedFields: [HTTPHeader] { (allHTTPHeaderFields ?? [:]).sortedFields }
}

extension InputStream {
    func readAll(isCancelled: () -> Bool) throws -> Data {
        open()
        defer { close() }
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            guard !isCancelled() else { throw CancellationError() }
            let count = read(&buffer, maxLength: buffer.count)
            if count == 0 { return data }
            guard count > 0 else {
                throw NetworkError(.encodingFailed, reason: "the body's stream failed", underlying: streamError)
            }
            data += buffer[..<count]
        }
    }
}

/// The location of an upload's bytes.
enum UploadedBody {
    case none
    case data(Data)
    case file(URL)
    case stream(InputStream)
}

extension [String: String] {
    var sortedFields: [HTTPHeader] {
        sorted { $0.key < $1.key }.map { HTTPHeader(name: $0.key, value: $0.value) }
    }
}

extension UploadedBody {
    /// Reads all bytes without blocking the caller's thread.
    func read() async throws -> Data {
        switch self {
        case .none: return Data()
        case .data(let data): return data
        case .file(let url): return try FileBody(url).encode()
        case .stream(let stream): return try await Self.read(stream)
        }
    }

    /// Reads a stream on a separate thread, because the stream may wait for its writer.
    private static func read(_ stream: InputStream) async throws -> Data {
        let isCancelled = Protected(false)
        nonisolated(unsafe) let stream = stream  // no other code reads it
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                DispatchQueue.global().async {
                    continuation.resume(with: Result { try stream.readAll { isCancelled.withLock { $0 } } })
                }
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
    }
}

/// The sender of the request that follows a redirect.
enum Redirection {
    case byStub(NetworkRequest)
    case bySystem
    /// No request follows: the redirect itself is the answer.
    case declined
}
