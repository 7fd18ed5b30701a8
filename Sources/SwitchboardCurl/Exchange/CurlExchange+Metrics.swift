#if os(Linux)
import SwitchboardCurlC

extension CurlExchange {
    package var duration: Duration { .nanoseconds(Int64(endTime - min(startTime, endTime))) }
    package var timeToFirstByte: Duration? { firstByte > startTime ? .nanoseconds(Int64(firstByte - startTime)) : nil }
    package var bytesSent: Int64 { info.sent }
    package var isReusedConnection: Bool { info.connects == 0 }

    /// Whether the exchange ended while it waited for a connection that others use or open.
    package var endedInQueue: Bool { sendTime == 0 && !deadlines.isConnecting }

    /// The protocol, such as `HTTP/1.1`.
    package var protocolVersion: String? {
        switch info.http_version {  // a `CURL_HTTP_VERSION_` value of libcurl
        case 1: "HTTP/1.0"
        case 2: "HTTP/1.1"
        case 3: "HTTP/2"
        case 30: "HTTP/3"
        default: nil
        }
    }

    /// The wait for the loop and for a connection. On a reused connection, libcurl's times measure that wait.
    package var queueTime: Duration {
        let connecting = isReusedConnection ? 0 : max(info.connect, info.app_connect) * 1_000
        return .nanoseconds(max(0, Int64(sendTime - min(startTime, sendTime)) - connecting))
    }

    package var nameLookupTime: Duration { span(0, info.name_lookup) }
    package var connectTime: Duration { span(info.name_lookup, info.connect) }
    /// The time of the TLS handshake. Nil without TLS.
    package var secureConnectTime: Duration? { request.isTLS ? span(info.connect, info.app_connect) : nil }

    private func span(_ from: Int64, _ to: Int64) -> Duration {
        isReusedConnection ? .zero : .microseconds(max(0, to - from))
    }
}
#endif
