import Foundation
import Switchboard
import SwitchboardText

extension NetworkRequest {
    /// Reads the body once, as a session does when it sends the body. Returns nil for an empty body.
    ///
    /// - Throws: ``NetworkError/Code/encodingFailed`` for a body that cannot be encoded or read, or whose length
    ///   differs from the announced one.
    func readBody() async throws -> Data? {
        guard !body.isEmpty else { return nil }
        do {
            guard body.isStreamed else {
                let bytes = try body.encode()
                options.onBodySent?(Int64(bytes.count))
                return bytes
            }
            var bytes = Data()
            for try await chunk in try body.makeStream() {
                try Task.checkCancellation()
                bytes += chunk
                options.onBodySent?(Int64(bytes.count))
            }
            try Task.checkCancellation()
            if let length = body.length, length != Int64(bytes.count) {
                let reason = "the body's stream produced \(bytes.count) bytes, but its length announces \(length)"
                throw NetworkError(.encodingFailed, reason: reason)
            }
            return bytes
        } catch {
            if Task.isCancelled { throw CancellationError() }
            throw NetworkError.encoding(error, by: body.isStreamed ? "the body's stream" : "the body's encode()")
                .adding(self)
        }
    }

    /// Returns the request with the bytes of its body in place of the body, which may be readable only once.
    func replacingBody(with bytes: Data?) -> NetworkRequest {
        guard let bytes else { return self }
        var request = self
        request.body = DataBody(bytes)
        request.headers = allHeaders
        return request
    }

    /// Sends a request whose body was read and reported, without a second report.
    func sendReported(over session: any NetworkSession) async throws -> NetworkResponse {
        var request = self
        request.options.onBodySent = nil
        var response = try await session.send(request)
        response.request?.options.onBodySent = options.onBodySent
        return response
    }

    /// Returns the request as it would be on the wire over HTTP/1.1, without fields that a transport adds, such as
    /// `User-Agent`.
    func recorded(body bytes: Data?, index: Int) -> RecordedRequest {
        let target = path + (query.map { "?\($0)" } ?? "")
        var headers = allHeaders
        if let authorization = urlAuthorization { headers.addMissing(["Authorization": authorization]) }
        let cookies = headers.values(for: "Cookie")
        if cookies.count > 1 { headers.set("Cookie", cookies.joined(separator: "; ")) }  // RFC 6265 §5.4
        if !headers.contains("Host") {
            let host = HTTPHeader(name: "Host", value: host + (url?.portSuffix ?? ""))
            headers = HTTPHeaders([host] + Array(headers))
        }
        // An empty body is announced too, if the method usually has one (RFC 9110 §8.6).
        if bytes != nil || [.post, .put, .patch].contains(method), !headers.contains("Content-Length") {
            headers.add("Content-Length", String(bytes?.count ?? 0))
        }
        let lines = headers.map { "\($0.name): \($0.value)\r\n" }.joined()
        var recorded = RecordedRequest(
            method: method, target: target, httpVersion: "HTTP/1.1", headers: headers, body: bytes ?? Data(),
            trailers: [:], head: Data("\(method) \(target) HTTP/1.1\r\n\(lines)\r\n".utf8), connection: 0, index: index)
        recorded.isSecure = scheme.lowercased() == "https"
        recorded.endPoint = EndPointBox(value: endPoint)
        return recorded
    }
}
