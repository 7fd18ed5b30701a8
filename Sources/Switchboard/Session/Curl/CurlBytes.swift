#if os(Linux)
import SwitchboardCurl
import SwitchboardPlatform
import Foundation

/// The reading end of a streamed response. Releasing it cancels the exchange. It retains the session.
final class CurlBytes: ResponseBytes.Source {
    private let pipe: BytePipe
    private let exchange: CurlExchange
    private let sentRequest: NetworkRequest
    private let session: CurlSession

    init(_ pipe: BytePipe, _ exchange: CurlExchange, of request: NetworkRequest, over session: CurlSession) {
        self.pipe = pipe
        self.exchange = exchange
        sentRequest = request
        self.session = session
    }

    deinit {
        pipe.close(cancel: exchange.cancel)
    }

    var isUnchanged: Bool { true }

    func next() async throws -> Data? {
        do {
            return try await withCancellation {
                try await pipe.next(resume: exchange.requestResume)
            } onCancel: { [pipe, exchange] in
                pipe.close(cancel: exchange.cancel)
            }
        } catch let failure as CurlFailure {
            throw session.error(failure, of: sentRequest, exchange)
        }
    }

    var result: (trailers: HTTPHeaders, metrics: ExchangeMetrics)? {
        pipe.isComplete ? (exchange.trailers, exchange.metrics) : nil
    }
}

extension CurlExchange {
    var trailers: HTTPHeaders {
        head.trailerLines.isEmpty ? HTTPHeaders() : HTTPHeaders(lines: head.trailerLines)
    }

    var metrics: ExchangeMetrics {
        var metrics = ExchangeMetrics()
        metrics.start = startDate
        metrics.duration = duration
        metrics.timeToFirstByte = timeToFirstByte
        metrics.bytesReceived = received
        metrics.bytesSent = bytesSent
        metrics.protocolVersion = protocolVersion
        metrics.isReusedConnection = isReusedConnection
        metrics.remoteAddress = remoteAddress
        metrics.queue = queueTime
        metrics.nameLookup = nameLookupTime
        metrics.connect = connectTime
        metrics.secureConnect = secureConnectTime
        return metrics
    }
}
#endif
