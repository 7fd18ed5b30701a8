import SwitchboardPlatform
import Foundation
import SwitchboardText

package enum URLErrorMapping {
    /// Returns the error of a failed exchange. An error of the system about a broken connection is
    /// ``NetworkError/Code/connectionLost``, and any other error than a `URLError` is ``NetworkError/Code/unknown``.
    package static func networkError(_ error: any Error, quirks: URLSessionQuirks = .current) -> NetworkError {
        guard let error = error as? URLError else {
            return lostConnection(error) ?? NetworkError.transport(error)
        }
        let text = quirks.reportsLibcurlErrors ? error.localizedDescription : ""
        // The host name must not match words of libcurl.
        let host = error.failingURL?.host ?? ""
        let words = host.isEmpty ? text : text.replacingOccurrences(of: host, with: "", options: .caseInsensitive)
        let code = code(for: error.code, libcurlText: words)
        var failure = NetworkError(code, reason: reason(error, text), underlying: error)
        switch error.code {
        case .serverCertificateHasBadDate, .serverCertificateUntrusted, .serverCertificateHasUnknownRoot,
            .serverCertificateNotYetValid:
            failure.title = NetworkError.untrustedCertificate
        default: break
        }
        return failure
    }

    /// Returns the error for an `errno` that means a broken connection, or nil. URLSession on Apple's systems reports
    /// it after the app was in the background.
    private static func lostConnection(_ error: any Error) -> NetworkError? {
        let (domain, number) = ((error as NSError).domain, (error as NSError).code)
        guard [NSPOSIXErrorDomain, "kNWErrorDomainPOSIX"].contains(domain),
            [ECONNABORTED, ECONNRESET, ENOTCONN, EPIPE].map(Int.init).contains(number)
        else { return nil }
        return NetworkError(.connectionLost, reason: "POSIX error \(number)", underlying: error)
    }

    /// Returns the code for a `URLError` over libcurl. Many causes share one URLError, and only libcurl's text
    /// distinguishes them.
    private static func code(for code: URLError.Code, libcurlText text: String) -> NetworkError.Code {
        let isShared = [.unknown, .unsupportedURL, .networkConnectionLost, .badServerResponse].contains(code)
        let special = isShared ? libcurlTexts.first { text.localizedCaseInsensitiveContains($0.text) } : nil
        return special?.code ?? Self.code(for: code)
    }

    private static func code(for code: URLError.Code) -> NetworkError.Code {
        switch code {
        case .cancelled, .userCancelledAuthentication: .cancelled
        case .badURL, .unsupportedURL, .requestBodyStreamExhausted: .invalidRequest
        case .cannotFindHost, .dnsLookupFailed: .cannotFindHost
        case .cannotConnectToHost, .httpTooManyRedirects, .resourceUnavailable,
            .redirectToNonExistentLocation:
            .cannotConnect
        case .internationalRoamingOff, .callIsActive, .dataNotAllowed, .notConnectedToInternet: .noInternetConnection
        case .networkConnectionLost: .connectionLost
        case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection:
            .insecureConnection
        case .userAuthenticationRequired: .cannotAuthenticate
        case .timedOut: .timedOut
        case .badServerResponse, .cannotParseResponse, .zeroByteResource: .invalidResponse
        case .dataLengthExceedsMaximum: .responseTooLarge
        case .cannotDecodeRawData, .cannotDecodeContentData: .cannotDecodeResponse
        default: .unknown
        }
    }

    /// Texts in libcurl's messages, the most specific first.
    private static let libcurlTexts: [(text: String, code: NetworkError.Code)] = [
        ("websockets not supported", .unsupported),
        ("bytes remaining to read", .truncatedBody), ("outstanding read data remaining", .truncatedBody),
        ("was not closed cleanly", .truncatedBody), ("end of response with", .truncatedBody),
        ("unrecognized content encoding", .cannotDecodeResponse),
        ("error while processing content unencoding", .cannotDecodeResponse),
        ("content encoding", .cannotDecodeResponse), ("transfer-encoding", .cannotDecodeResponse),
        ("decompress", .cannotDecodeResponse),
        ("too large response headers", .headersTooLarge), ("out of memory", .headersTooLarge),
        ("avoided giant realloc", .headersTooLarge), ("header line too long", .headersTooLarge),
        ("grew larger than allowed", .headersTooLarge),
        ("ssl", .insecureConnection), ("tls", .insecureConnection), ("certificate", .insecureConnection),
        ("http/0.9", .invalidResponse), ("http version", .invalidResponse), ("unsupported protocol", .invalidResponse),
        ("subversion in response", .invalidResponse), ("writing output to destination", .invalidResponse),
        ("failed writing header", .invalidResponse), ("invalid status line", .invalidResponse),
        ("failed writing received data", .invalidResponse), ("chunk", .invalidResponse),
        ("content-length", .invalidResponse), ("nul byte", .invalidResponse),
        ("empty reply", .connectionLost), ("weird server reply", .invalidResponse),
        ("could not resolve", .cannotFindHost), ("send failure", .connectionLost), ("recv failure", .connectionLost),
        ("couldn't connect", .cannotConnect), ("failed to connect", .cannotConnect),
        ("could not connect", .cannotConnect),
    ]

    private static func reason(_ error: URLError, _ libcurlText: String) -> String {
        guard libcurlText.isEmpty || libcurlText.hasPrefix("The operation could not be completed") else {
            return Redaction.standard.url(TransportText.plain(libcurlText))
        }
        guard error.code != .appTransportSecurityRequiresSecureConnection else {
            return "App Transport Security forbids http; use https, or add an exception to the app's Info.plist"
        }
        return "URLSession error \(error.code.rawValue)"
    }
}

extension NetworkError {
    /// Returns the error itself if it is a ``NetworkError``, or else an unknown transport failure with the error
    /// underneath.
    static func transport(_ error: any Error) -> NetworkError {
        error as? NetworkError ?? NetworkError(.unknown, underlying: error)
    }

    static let untrustedCertificate = "The server's certificate is not trusted"
}
