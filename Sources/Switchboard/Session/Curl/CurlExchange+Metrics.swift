#if os(Linux)
import Foundation
import SwitchboardCurl

extension CurlExchange {
    /// What it took, once it has ended.
    var metrics: ExchangeMetrics {
        let duration = end - min(start, end)
        var metrics = ExchangeMetrics()
        metrics.start = startDate
        metrics.duration = .nanoseconds(Int64(duration))
        if firstByte > start { metrics.timeToFirstByte = .nanoseconds(Int64(firstByte - start)) }
        metrics.bytesReceived = received
        metrics.bytesSent = figures.sent
        metrics.protocolVersion = Self.version(figures.http_version)
        metrics.isReusedConnection = figures.connects == 0
        metrics.remoteAddress = remoteAddress
        func span(_ from: Int64, _ to: Int64) -> Duration { .microseconds(max(0, to - from)) }
        // On a connection that stood already libcurl's times are those of waiting for it.
        let isNew = figures.connects > 0
        let connecting = isNew ? max(figures.connect, figures.app_connect) * 1_000 : 0
        metrics.queue = .nanoseconds(max(0, Int64(sendTime - min(start, sendTime)) - connecting))
        metrics.nameLookup = isNew ? span(0, figures.name_lookup) : .zero
        metrics.connect = isNew ? span(figures.name_lookup, figures.connect) : .zero
        if request.url?.isHTTPS == true {
            metrics.secureConnect = isNew ? span(figures.connect, figures.app_connect) : .zero
        }
        return metrics
    }

    /// By libcurl's `CURL_HTTP_VERSION_`.
    private static func version(_ number: Int) -> String? {
        switch number {
        case 1: "HTTP/1.0"
        case 2: "HTTP/1.1"
        case 3: "HTTP/2"
        case 30: "HTTP/3"
        default: nil
        }
    }
}

extension NetworkResponse {
    init(_ head: ResponseHead, body: Data = Data(), of request: NetworkRequest) {
        self.init(status: head.status, headers: head.headers, body: body, url: request.url)
        self.request = request
    }
}
#endif
