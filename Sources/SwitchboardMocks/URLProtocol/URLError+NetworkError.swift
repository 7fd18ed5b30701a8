import Foundation
import Switchboard

extension URLError {
    /// What URLSession reports for a failure; the failure itself stands under `NSUnderlyingErrorKey`. A `URLError` in it
    /// gives the code.
    init(_ error: NetworkError, for url: URL?) {
        var information: [String: Any] = [
            NSUnderlyingErrorKey: error, NSLocalizedDescriptionKey: error.description,
        ]
        information[NSURLErrorFailingURLErrorKey] = error.url ?? url
        self.init(error.urlErrorCode ?? Self.code(for: error.code), userInfo: information)
    }

    /// The code for one of ours, or for the general one that it is a case of.
    static func code(for code: NetworkError.Code) -> URLError.Code {
        codes[code] ?? code.parent.map { Self.code(for: $0) } ?? .unknown
    }

    private static let codes: [NetworkError.Code: URLError.Code] = [
        .cancelled: .cancelled, .timedOut: .timedOut,
        .cannotConnect: .cannotConnectToHost, .cannotFindHost: .cannotFindHost,
        .noInternetConnection: .notConnectedToInternet, .connectionLost: .networkConnectionLost,
        .insecureConnection: .secureConnectionFailed, .cannotAuthenticate: .userAuthenticationRequired,
        .invalidRequest: .badURL, .unsupported: .unsupportedURL, .encodingFailed: .requestBodyStreamExhausted,
        // What Apple's URLSession says to a GET with a body.
        .bodyNotAllowed: .dataLengthExceedsMaximum,
        .invalidResponse: .cannotParseResponse, .truncatedBody: .networkConnectionLost,
        .responseTooLarge: .dataLengthExceedsMaximum, .headersTooLarge: .dataLengthExceedsMaximum,
        .cannotDecodeResponse: .cannotDecodeContentData, .cannotWriteFile: .cannotWriteToFile,
        .tooManyRedirects: .httpTooManyRedirects, .redirectRefused: .redirectToNonExistentLocation,
    ]
}
