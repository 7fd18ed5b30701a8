import Foundation
import SwitchboardText

/// An error that libcurl reported, beneath the ``NetworkError`` of a ``CurlSession``.
public struct CurlError: Error, Sendable, Hashable, LocalizedError {
    /// libcurl's result code, such as 7 for `CURLE_COULDNT_CONNECT`.
    public let code: Int
    /// libcurl's own message, with the secrets of URLs redacted.
    public let message: String

    /// Creates an error and redacts the secrets of URLs in its message.
    public init(code: Int, message: String) {
        self.code = code
        self.message = Redaction.standard.url(message)
    }

    /// The message and the code.
    public var errorDescription: String? { "\(message) (libcurl \(code))" }
}

extension CurlError {
    /// Returns the error of the exchange. `isHeadComplete` is true if the complete head of the response had arrived,
    /// `lacksDescriptors` if the process could open no socket, or no file for a name lookup or TLS.
    func networkError(
        isHeadComplete: Bool, route: TransportText.Route = .init(), lacksDescriptors: Bool = false
    ) -> NetworkError {
        var error = NetworkError(
            networkCode(isHeadComplete: isHeadComplete), reason: TransportText.plain(message, route: route),
            underlying: self)
        if code == 60 || code == 51 { error.title = NetworkError.untrustedCertificate }
        if lacksDescriptors {
            let file = code == 77 ? ": \(message)" : ""  // names the file of authorities
            (error.code, error.reason) = (.cannotConnect, "the process has no free descriptor for a connection" + file)
        }
        if error.code == .timedOut, !isHeadComplete { error.reason = "connect timeout (\(message))" }
        if code == 27 || code == 100, isHeadComplete {
            error.reason = "its decompressed body exceeds the memory that libcurl buffers for a slow reader"
        } else if code == 27 {
            error.reason = "a line of it is longer than libcurl accepts, 100 KiB, whatever limits.responseHeaders is"
        }
        if code == 16 || code == 56, error.code == .headersTooLarge {
            let limit = message.hasPrefix("Too large response headers") ? ", 300 KiB" : " over HTTP/2"
            error.reason = "it is larger than libcurl accepts\(limit), whatever limits.responseHeaders is"
        }
        if isHeadComplete, let waiting = error.reason?.range(of: "while waiting for the response") {
            error.reason?.replaceSubrange(waiting, with: "while reading the body")
        }
        return error
    }

    /// Returns the code for the result. libcurl's message distinguishes causes that share a result code.
    private func networkCode(isHeadComplete: Bool) -> NetworkError.Code {
        func mentions(_ words: String) -> Bool { message.range(of: words, options: .caseInsensitive) != nil }
        // The code is 56, and from 8.20 on 7. The first text is from versions before 7.87, the second from later ones.
        if [7, 55, 56].contains(code), mentions("from proxy after CONNECT") || mentions("CONNECT tunnel failed") {
            return mentions("code 407") || mentions("response 407") ? .cannotAuthenticate : .cannotConnect
        }
        switch code {
        case 6 where mentions("Unix socket"): return .cannotConnect
        case 18 where !isHeadComplete: return .connectionLost  // the length had arrived, but not the whole head
        // A line longer than libcurl's own limit, or more decompressed bytes than it buffers for a slow reader.
        case 27, 100: return isHeadComplete ? .responseTooLarge : .headersTooLarge
        // Since 8.16, also an invalid client key or certificate.
        case 43 where mentions("private key") || mentions("certificate"): return .insecureConnection
        case 56 where mentions("unexpected eof") || mentions("closed abruptly"):  // TLS ended without a closing alert
            return isHeadComplete ? .truncatedBody : .connectionLost
        case 16 where mentions("CONTINUATION frames"), 56 where mentions("CONTINUATION frames"):
            return .headersTooLarge
        case 56 where mentions("user callback function failed") && !isHeadComplete: return .headersTooLarge
        // Since 8.3, and in older versions with security fixes.
        case 56 where mentions("Too large response headers"): return .headersTooLarge
        case 55, 56:
            // With TLS 1.3, a server refuses a client certificate after the client has finished the handshake.
            if mentions("SSL"), mentions("alert") { return .insecureConnection }
            return mentions("chunk") || mentions("hexadecimal") ? .invalidResponse : .connectionLost
        case 92: return isHeadComplete ? .truncatedBody : .connectionLost
        case 97 where mentions("rejected by the SOCKS") || mentions("No authentication method"):
            return .cannotAuthenticate
        default: return Self.code(for: code)
        }
    }

    /// Maps the numbers of libcurl's `CURLE_` codes that HTTP can cause.
    private static func code(for number: Int) -> NetworkError.Code {
        switch number {
        // 1, UNSUPPORTED_PROTOCOL: the scheme was checked before, so the server sent HTTP/0.9 or an unknown version.
        // 43, BAD_FUNCTION_ARGUMENT: a header line without a colon.
        case 1, 8, 16, 23, 43, 95: .invalidResponse
        case 3, 49: .invalidRequest
        case 4, 25: .unsupported  // 25, UPLOAD_FAILED: a body without a length, to a server that speaks HTTP/1.0
        case 5, 6: .cannotFindHost
        case 7, 45, 89, 96, 97: .cannotConnect
        case 18: .truncatedBody
        case 26: .encodingFailed
        case 28: .timedOut
        case 35, 51, 53, 54, 58, 59, 60, 64, 66, 77, 80, 82, 83, 90, 91, 98: .insecureConnection
        case 42: .cancelled
        case 52, 65, 81: .connectionLost
        case 61: .cannotDecodeResponse
        case 63: .responseTooLarge
        case 67, 94: .cannotAuthenticate
        default: .unknown
        }
    }
}
