import Foundation
import Switchboard

extension URLError {
    /// Creates the error that URLSession reports for a failure, with the failure under `NSUnderlyingErrorKey`. A
    /// `URLError` inside the failure determines the code, unless that is unknown. `url` is that of the task's request,
    /// because the URL that was sent may contain secrets.
    init(_ error: NetworkError, for url: URL?) {
        var information: [String: Any] = [
            NSUnderlyingErrorKey: error, NSLocalizedDescriptionKey: error.description,
        ]
        information[NSURLErrorFailingURLErrorKey] = url
        // The constant for this key is deprecated, but URLSession sets it.
        information["NSErrorFailingURLStringKey"] = url?.absoluteString
        let known = error.urlErrorCode.flatMap { $0 == .unknown ? nil : $0 }
        self.init(known ?? Self.code(for: error.code), userInfo: information)
    }

    /// Returns the code for one of this package's codes, or for its parent code.
    static func code(for code: NetworkError.Code) -> URLError.Code {
        codes[code] ?? code.parent.map { Self.code(for: $0) } ?? .unknown
    }

    private static let codes: [NetworkError.Code: URLError.Code] = [
        .cancelled: .cancelled, .resetInProgress: .cancelled, .timedOut: .timedOut,
        .cannotConnect: .cannotConnectToHost, .cannotFindHost: .cannotFindHost, .circuitOpen: .cannotConnectToHost,
        .noInternetConnection: .notConnectedToInternet, .connectionLost: .networkConnectionLost,
        .insecureConnection: .secureConnectionFailed, .cannotAuthenticate: .userAuthenticationRequired,
        .invalidRequest: .badURL, .unsupported: .unsupportedURL, .encodingFailed: .requestBodyStreamExhausted,
        .unreadableFile: .fileDoesNotExist, .notCached: .resourceUnavailable,
        // The code of Apple's URLSession for a GET with a body.
        .bodyNotAllowed: .dataLengthExceedsMaximum,
        .invalidResponse: .cannotParseResponse, .truncatedBody: .networkConnectionLost,
        .responseTooLarge: .dataLengthExceedsMaximum, .headersTooLarge: .dataLengthExceedsMaximum,
        .cannotDecodeResponse: .cannotDecodeContentData, .cannotWriteFile: .cannotWriteToFile,
        .tooManyRedirects: .httpTooManyRedirects, .redirectRefused: .redirectToNonExistentLocation,
    ]
}
