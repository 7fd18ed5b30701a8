#if os(Linux)
import SwitchboardCurl
import SwitchboardPlatform
import Foundation
import SwitchboardText

extension CurlFailure {
    /// Returns the error of a failed request. `isHeadComplete` is true if the complete head of the response had
    /// arrived. `limits` names the limits of connections if the request waited for one until it ended.
    func networkError(
        of request: NetworkRequest, isHeadComplete: Bool, limits: String? = nil,
        route: TransportText.Route = .init()
    ) -> NetworkError {
        let more = limits.map { ", " + $0 } ?? ""
        func reason(_ text: String) -> String { limits == nil ? text : "no connection was ready within" }
        return switch self {
        case .libcurl(let code, let message):
            CurlError(code: Int(code), message: message).networkError(
                isHeadComplete: isHeadComplete, route: route,
                lacksDescriptors: [6, 7, 77].contains(code) && CurlLibrary.lacksDescriptors)
        case .refusedOption(let option, let code):
            NetworkError(
                .unsupported,
                reason:
                    "CurlSession: libcurl \(CurlLibrary.versionText) refuses \(option): \(CurlLibrary.text(of: code))")
        case .refusedURL(let length, let code):
            NetworkError(
                .invalidRequest, reason: "libcurl refuses a URL of \(length) bytes: \(CurlLibrary.text(of: code))")
        case .system(let reason): NetworkError(.unknown, reason: reason)
        case .closed: NetworkError(.sessionInvalidated)
        case .cancelled: NetworkError(.cancelled)
        case .timedOut(.attempt):
            .timedOut(reason("no complete response within"), request.timeouts.attempt, "attempt" + more)
        case .timedOut(.connect): .timedOut("no connection within", request.timeouts.connect, "connect")
        case .timedOut(.idle): .timedOut(reason("no data for"), request.timeouts.idle, "idle" + more)
        case .connectionDied(let loss): connectionDied(loss, request)
        case .headTruncated:
            NetworkError(.connectionLost, reason: "the connection was closed inside the head of the response")
        case .headTooLarge:
            NetworkError(
                .headersTooLarge, reason: "limits.responseHeaders is \(request.limits.responseHeaders) bytes")
        case .headContainsNUL: NetworkError(.invalidResponse, reason: "the head of the response contains a NUL byte")
        case .headStartsFolded:
            NetworkError(.invalidResponse, reason: "the header of the response begins with a folded line")
        case .unrequestedUpgrade(let isHTTP10):
            NetworkError(
                .invalidResponse,
                reason: isHTTP10
                    ? "a 101 of HTTP/1.0 switches to no protocol (RFC 9110 §7.8)"
                    : "a 101 switches to a protocol that was not requested")
        case .responseLost:
            NetworkError(
                .connectionLost,
                reason: "the server answered before the end of the body, and libcurl discarded the response")
        case .badLengths: NetworkResponse.badLengths
        case .undecodable(let reason):
            NetworkError(.cannotDecodeResponse, reason: "the body does not match its Content-Encoding (\(reason))")
        case .codingTruncated:
            NetworkError(.truncatedBody, reason: "its compressed data ends early, although its length is right")
        case .bodyAnnouncedTooLarge(let length):
            request.limits.bodyTooLarge("Content-Length announces \(length) bytes")
        case .bodyTooLarge(let count): request.limits.bodyTooLarge("more than \(count) bytes arrived")
        case .ratioTooLarge:
            NetworkError(
                .responseTooLarge,
                reason: "it decompresses to more than \(request.limits.decompressionRatio) times its size"
                    + " (limits.decompressionRatio)")
        case .body(let error): NetworkError.encoding(error, by: "the body's stream")
        case .wrongBodyLength(let amount):
            NetworkError(.encodingFailed, reason: "the body's stream produced \(amount) that its length announced")
        }
    }

    private func connectionDied(_ loss: Loss, _ request: NetworkRequest) -> NetworkError {
        let (reason, replay): (String, Replay) =
            switch loss {
            case .reused: ("the kept-alive connection ended before the server answered", .onNewConnection)
            case .streamEnded: ("the HTTP/2 stream ended before the server answered", .afterEndedStream)
            case .unprocessed: ("the server did not process the request", .unprocessed)
            }
        var error = NetworkError(.connectionLost, reason: reason)
        if request.mayBeReplayed(replay) {
            error.replay = replay
        } else if !request.isReplay {
            let obstacle = request.body.isReplayable ? request.method.rawValue : "its streamed body"
            error.reason = "\(reason); \(obstacle) is not sent again"
        }
        return error
    }
}
#endif
