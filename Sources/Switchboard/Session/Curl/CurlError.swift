import Foundation
import SwitchboardText

/// What libcurl reported, under the ``NetworkError`` of a ``CurlSession``.
public struct CurlError: Error, Sendable, Hashable, LocalizedError {
    /// libcurl's result code, such as 7 for `CURLE_COULDNT_CONNECT`.
    public let code: Int
    /// libcurl's own message, with secrets in URLs replaced.
    public let message: String

    /// Makes an error.
    public init(code: Int, message: String) {
        self.code = code
        self.message = Redaction.standard.url(message)
    }

    /// The message and the code.
    public var errorDescription: String? { "\(message) (libcurl \(code))" }
}

extension CurlError {
    /// The error for an exchange that ended with this, before or after the head of its response was complete, by the
    /// proxy that the session names.
    func networkError(isHeadComplete: Bool, proxy: String? = nil) -> NetworkError {
        var error = NetworkError(
            networkCode(isHeadComplete: isHeadComplete), reason: TransportText.plain(message, proxy: proxy),
            underlying: self)
        if error.code == .timedOut, !isHeadComplete { error.reason = "connect timeout (\(message))" }
        return error
    }

    /// What a result code means. libcurl's words tell apart what shares one.
    private func networkCode(isHeadComplete: Bool) -> NetworkError.Code {
        func says(_ words: String) -> Bool { message.range(of: words, options: .caseInsensitive) != nil }
        switch code {
        case 6 where says("Unix socket"): return .cannotConnect
        case 18 where !isHeadComplete: return .connectionLost  // its length had come, the rest of the head had not
        case 27: return isHeadComplete ? .unknown : .headersTooLarge  // a line longer than libcurl's own limit
        // Since 8.16 what is wrong with a client's key or certificate.
        case 43 where says("private key") || says("certificate"): return .insecureConnection
        case 56 where says("unexpected eof") || says("closed abruptly"):  // TLS without its end, which 8.x insists on
            return isHeadComplete ? .truncatedBody : .connectionLost
        case 55, 56:
            // Before 7.87, and since.
            if says("from proxy after CONNECT") || says("CONNECT tunnel failed") {
                return says("407") ? .cannotAuthenticate : .cannotConnect
            }
            // TLS 1.3 refuses a client's certificate after the client's side of the handshake is over.
            if says("SSL"), says("alert") { return .insecureConnection }
            return says("chunk") || says("hexadecimal") ? .invalidResponse : .connectionLost
        case 92: return isHeadComplete ? .truncatedBody : .connectionLost
        case 97 where says("rejected by the SOCKS") || says("No authentication method"): return .cannotAuthenticate
        default: return Self.code(for: code)
        }
    }

    /// By the numbers of libcurl's `CURLE_` codes, those of HTTP alone.
    private static func code(for number: Int) -> NetworkError.Code {
        switch number {
        // 1, UNSUPPORTED_PROTOCOL: the scheme was checked before, so this is HTTP/0.9 or worse.
        case 1, 8, 16, 23, 95: .invalidResponse
        case 3, 49: .invalidRequest
        case 4: .unsupported
        case 5, 6: .cannotFindHost
        case 7, 45, 89, 96, 97: .cannotConnect
        case 18: .truncatedBody
        case 26: .encodingFailed
        case 28: .timedOut
        case 35, 53, 54, 58, 59, 60, 64, 66, 77, 80, 82, 83, 90, 91, 98: .insecureConnection
        case 42: .cancelled
        case 52, 65, 81: .connectionLost
        case 61: .cannotDecodeResponse
        case 63: .responseTooLarge
        case 67, 94: .cannotAuthenticate
        case 100: .headersTooLarge
        default: .unknown
        }
    }
}
