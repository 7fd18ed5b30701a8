#if os(Linux)
import Foundation

/// What a session has to send with: its loop and its handles. Its end is the end of the loop's thread.
final class CurlEngine: Sendable {
    let loop: CurlLoop
    private let handles: CurlHandlePool

    init(_ configuration: SessionConfiguration) throws(NetworkError) {
        handles = CurlHandlePool(try CurlSettings(configuration))
        loop = try CurlLoop(configuration, handles)
    }

    deinit {
        loop.close(cancelling: true)
    }

    func shutdown() async {
        loop.close(cancelling: true)
        await withCheckedContinuation { continuation in
            loop.whenEnded { continuation.resume() }
        }
    }

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        let exchange = try prepare(request)
        let answer: CurlExchange.Answer = try await withCancellation {
            try await withUnsafeThrowingContinuation { continuation in
                guard exchange.begin(continuation), !loop.submit(.start(exchange)) else { return }
                exchange.fail(NetworkError(.sessionInvalidated))
            }
        } onCancel: {
            exchange.cancel()
        }
        // What the loop wrote before its answer is seen after this. The continuation sees to that too, but not for the
        // thread sanitizer where it is resumed before the caller has gone to sleep.
        _ = exchange.isAnswered
        switch answer {
        case .whole: return exchange.response(isWhole: true)
        case .streaming(let download, let head):
            var response = NetworkResponse(head, of: request)
            response.stream = ResponseBytes(CurlBytes(download, exchange, self))
            return response
        }
    }

    private func prepare(_ request: NetworkRequest) throws(NetworkError) -> CurlExchange {
        guard let url = request.url else { throw NetworkError(.missingURL) }
        guard request.method != .connect else {
            throw NetworkError(.unsupported, reason: "CurlSession does not have the method CONNECT")
        }
        let (bareURL, credentials) = url.withoutUserInfo
        let body = try upload(request.body)
        let handle = try handles.take(for: loop)
        handle.prepare(
            request, bareURL, credentials: credentials, bodyLength: body == nil ? nil : request.body.length ?? -1)
        return CurlExchange(request, handle, loop, body: body)
    }

    private func upload(_ body: any HTTPBody) throws(NetworkError) -> (any CurlUpload)? {
        guard !body.isEmpty else { return nil }
        guard body.isStreamed else {
            do {
                return CurlMemoryUpload(try body.encode())
            } catch {
                throw NetworkError.encoding(error)
            }
        }
        return CurlStreamUpload(body)
    }
}
#endif
