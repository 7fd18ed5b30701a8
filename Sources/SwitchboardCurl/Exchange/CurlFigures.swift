#if os(Linux)
import SwitchboardCurlC
import Foundation

/// The measured times and counts of an exchange.
package struct CurlFigures: Sendable {
    package var start: Date
    package var duration: Duration
    package var timeToFirstByte: Duration?
    package var received: Int64
    package var sent: Int64
    /// The version, such as `HTTP/1.1`.
    package var version: String?
    package var isReusedConnection: Bool
    package var remoteAddress: String?
    package var queue: Duration
    package var nameLookup: Duration
    package var connect: Duration
    /// The time of the TLS handshake. Nil without TLS.
    package var secureConnect: Duration?
}

extension CurlExchange {
    /// The figures of the ended exchange.
    package var figures: CurlFigures {
        func span(_ from: Int64, _ to: Int64) -> Duration { .microseconds(max(0, to - from)) }
        // On a reused connection, libcurl's times measure the wait for it.
        let isNew = measured.connects > 0
        let connecting = isNew ? max(measured.connect, measured.app_connect) * 1_000 : 0
        return CurlFigures(
            start: startDate, duration: .nanoseconds(Int64(end - min(start, end))),
            timeToFirstByte: firstByte > start ? .nanoseconds(Int64(firstByte - start)) : nil,
            received: received, sent: measured.sent, version: Self.version(measured.http_version),
            isReusedConnection: !isNew, remoteAddress: remoteAddress,
            queue: .nanoseconds(max(0, Int64(sendTime - min(start, sendTime)) - connecting)),
            nameLookup: isNew ? span(0, measured.name_lookup) : .zero,
            connect: isNew ? span(measured.name_lookup, measured.connect) : .zero,
            secureConnect: !request.isTLS ? nil : isNew ? span(measured.connect, measured.app_connect) : .zero)
    }

    /// Returns the version of a `CURL_HTTP_VERSION_` value of libcurl.
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
#endif
