#if os(Linux)
import SwitchboardCurl
import SwitchboardPlatform
import Foundation
import SwitchboardText

/// One exchange, from the validated request to its response.
extension CurlSession {
    @inline(__always)
    func perform(_ request: NetworkRequest, over loop: CurlLoop) async throws -> NetworkResponse {
        var request = request
        if let upgrade = request.options.upgrade { request.headers.merge(upgrade.headers()) }
        let exchange = try makeExchange(request, over: loop)
        let answer = try await withCancellation {
            await exchange.run()
        } onCancel: {
            exchange.cancel()
        }
        switch answer {
        case .whole:
            var response = response(exchange.head, body: exchange.body, of: request)
            response.trailers = exchange.trailers
            response.metrics = exchange.metrics
            return response
        case .streaming(let head, let pipe):
            var response = response(head, of: request)
            response.stream = ResponseBytes(CurlBytes(pipe, exchange, of: request, over: self))
            if head.status == 101 { request.options.upgrade?.connected(exchange) }
            return response
        case .failed(let failure): throw error(failure, of: request, exchange)
        case .cancelled: throw CancellationError()
        }
    }

    /// Converts the request for libcurl.
    private func makeExchange(_ request: NetworkRequest, over loop: CurlLoop) throws(NetworkError) -> CurlExchange {
        guard var url = request.urlText else { throw NetworkError(.missingURL) }
        guard request.method != .connect else {
            throw NetworkError(.unsupported, reason: "CurlSession does not support the method CONNECT")
        }
        var credentials: String?
        if url.hasAt, let bare = request.url?.withoutUserInfo {
            (url, credentials) = (bare.url.absoluteString, bare.credentials)
        }
        var plain = CurlRequest(request.method.rawValue, url, isTLS: url.utf8.starts(withLowercase: "https:"))
        if let upgrade = request.options.upgrade {
            (plain.isUpgrade, plain.body) = (true, upgrade.plainBody)
        } else {
            plain.body = try plainBody(request.body)
        }
        let (timeouts, limits) = (request.timeouts, request.limits)
        plain.connectTimeout = timeouts.connect?.wholeNanoseconds ?? .max
        plain.idleTimeout = timeouts.idle?.wholeNanoseconds ?? .max
        plain.attemptTimeout = timeouts.attempt?.wholeNanoseconds ?? .max
        plain.headLimit = limits.responseHeaders
        plain.bodyLimit = limits.responseBody
        plain.ratioLimit = limits.decompressionRatio
        plain.isStreamed = request.options.streamsResponse
        plain.mayBeRepeated = request.mayBeRepeated
        plain.mayBeRepeatedUnprocessed = request.mayBeRepeatedUnprocessed
        plain.isOnNewConnection = request.repetition != nil
        plain.decodesBody = request.repetition != .undecoded

        var headers = try request.sentHeaders()
        if let credentials, !headers.contains("Authorization") { headers.add("Authorization", "Basic \(credentials)") }
        if !request.body.isEmpty {
            headers.remove("Content-Length")  // libcurl sends it, from the length
            plain.onBodySent = request.options.onBodySent
        } else if request.method == .post || request.method == .put || request.method == .patch {
            headers.remove("Content-Length")
            plain.announcesEmptyBody = true
        }
        let cookies = headers.values(for: "Cookie")
        if cookies.count > 1 { headers.set("Cookie", cookies.joined(separator: "; ")) }  // RFC 6265 §5.4
        do throws(CurlFailure) {
            return try CurlExchange(plain, over: loop) { body in
                for header in headers { body(header.name, header.value) }
            }
        } catch {
            throw self.error(error, of: request)
        }
    }

    private func plainBody(_ body: any HTTPBody) throws(NetworkError) -> CurlRequest.Body {
        guard !body.isEmpty else { return .none }
        guard body.isStreamed else {
            do {
                return .data(try body.encode())
            } catch {
                throw NetworkError.encoding(error)
            }
        }
        let environment = CallEnvironment.current
        return .stream(length: body.length) { send in
            try await environment.run {
                for try await chunk in try body.makeStream() where !(await send(chunk)) { return }
            }
        }
    }

    /// Returns the error of an exchange, with the partial response if one arrived.
    func error(_ failure: CurlFailure, of request: NetworkRequest, _ exchange: CurlExchange? = nil) -> NetworkError {
        let arrived = exchange.flatMap { $0.head.isComplete ? $0 : nil }
        let error = failure.networkError(
            of: request, isHeadComplete: arrived != nil, route: configuration.route(to: request.url))
        return arrived.map { error.with(response($0.head, body: $0.body, of: request)) } ?? error
    }

    private func response(_ head: CurlHead, body: Data = Data(), of request: NetworkRequest) -> NetworkResponse {
        var response = NetworkResponse(statusCode: head.status, headers: fields(of: head), body: body)
        response.request = request
        return response
    }

    private func fields(of head: CurlHead) -> HTTPHeaders {
        var known = knownHead.value
        let headers = HTTPHeaders(lines: head.lines, like: &known)
        _ = knownHead.swap(known)
        return headers
    }
}

extension CurlExchange: UpgradedConnection {}

extension ConnectionUpgrade {
    fileprivate var plainBody: CurlRequest.Body {
        .stream(length: nil) { [outgoing] send in
            // The source notices the cancellation of this task when the connection has ended.
            for try await chunk in outgoing() { _ = await send(chunk) }
        }
    }
}
#endif
