#if os(Linux)
import SwitchboardCurl
import SwitchboardPlatform
import Foundation
import SwitchboardText

// One exchange, from the validated request to its response.
extension CurlSession {
    @inline(__always)
    func perform(_ request: NetworkRequest, over loop: CurlLoop) async throws -> NetworkResponse {
        var request = request
        if let upgrade = request.options.upgrade { request.headers.merge(upgrade.headers(request)) }
        let exchange = try makeExchange(request, over: loop)
        let outcome = try await withCancellation {
            await exchange.run()
        } onCancel: {
            exchange.cancel()
        }
        switch outcome {
        case .complete:
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

    func makeExchange(_ request: NetworkRequest, over loop: CurlLoop) throws(NetworkError) -> CurlExchange {
        guard var url = request.urlText else { throw NetworkError(.missingURL) }
        guard request.method != .connect else {
            throw NetworkError(.unsupported, reason: "CurlSession does not support the method CONNECT")
        }
        var authorization: String?
        if url.containsAtSign, let parts = request.url?.withoutUserInfo {
            (url, authorization) = (parts.url.absoluteString, request.urlAuthorization)
        }
        var curlRequest = CurlRequest(request.method.rawValue, url, isTLS: url.utf8.starts(withLowercase: "https:"))
        if let upgrade = request.options.upgrade {
            (curlRequest.isUpgrade, curlRequest.body, curlRequest.onConfirm) = (true, upgrade.curlBody, upgrade.confirm)
        } else {
            curlRequest.body = try curlBody(request.body)
        }
        let (timeouts, limits) = (request.timeouts, request.limits)
        curlRequest.connectTimeout = timeouts.connect?.wholeNanoseconds ?? .max
        curlRequest.idleTimeout = timeouts.idle?.wholeNanoseconds ?? .max
        curlRequest.attemptTimeout = timeouts.attempt?.wholeNanoseconds ?? .max
        curlRequest.headLimit = limits.responseHeaders
        curlRequest.bodyLimit = limits.responseBody
        curlRequest.ratioLimit = limits.decompressionRatio
        curlRequest.isStreamed = request.options.streamsResponse
        curlRequest.streamsEveryStatus = request.options.streamsEveryStatus
        curlRequest.mayBeReplayed = request.mayBeReplayed
        curlRequest.mayBeReplayedUnprocessed = request.mayBeReplayedUnprocessed
        curlRequest.isOnNewConnection = request.isReplay

        var headers = try request.sentHeaders()
        if let authorization { headers.addMissing(["Authorization": authorization]) }
        if !request.body.isEmpty {
            headers.remove("Content-Length")  // libcurl sends it
            curlRequest.onBodySent = request.options.onBodySent
        } else if request.method == .post || request.method == .put || request.method == .patch {
            headers.remove("Content-Length")
            curlRequest.announcesEmptyBody = true
        }
        let cookies = headers.values(for: "Cookie")
        if cookies.count > 1 { headers.set("Cookie", cookies.joined(separator: "; ")) }  // RFC 6265 §5.4
        do throws(CurlFailure) {
            return try CurlExchange(curlRequest, over: loop) { body in
                for header in headers { body(header.name, header.value) }
            }
        } catch {
            throw self.error(error, of: request)
        }
    }

    private func curlBody(_ body: any HTTPBody) throws(NetworkError) -> CurlRequest.Body {
        guard !body.isEmpty else { return .none }
        guard body.isStreamed else {
            do {
                return .data(try body.encode())
            } catch {
                throw NetworkError.encoding(error, by: "the body's encode()")
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
        let partial = exchange.flatMap { $0.head.isComplete ? $0 : nil }
        let error = failure.networkError(
            of: request, isHeadComplete: partial != nil,
            limits: exchange?.endedInQueue == true ? configuration.connectionLimits : nil,
            route: configuration.route(to: request.url))
        return partial.map { error.with(response($0.head, body: $0.body, of: request)) } ?? error
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
    fileprivate var curlBody: CurlRequest.Body {
        // Called now and not by the pump, because the pump of an earlier exchange may start later.
        .stream(length: nil) { [bytes = outgoing()] send in
            // The source must know that its chunk may be unsent. The end of the connection cancels this task too, but
            // perhaps later.
            for try await chunk in bytes {
                if !(await send(chunk)) { withUnsafeCurrentTask { $0?.cancel() } }
            }
        }
    }
}
#endif
