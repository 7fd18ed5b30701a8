// Shortcuts such as `NetworkError.timedOut` for `NetworkError.Code.timedOut`, so that `catch NetworkError.timedOut`
// reads as `catch URLError.timedOut` does.
extension NetworkError {
    /// ``Code/invalidRequest``
    public static var invalidRequest: Code { .invalidRequest }
    /// ``Code/missingURL``
    public static var missingURL: Code { .missingURL }
    /// ``Code/parametersNil``
    public static var parametersNil: Code { .parametersNil }
    /// ``Code/encodingFailed``
    public static var encodingFailed: Code { .encodingFailed }
    /// ``Code/unreadableFile``
    public static var unreadableFile: Code { .unreadableFile }
    /// ``Code/bodyNotAllowed``
    public static var bodyNotAllowed: Code { .bodyNotAllowed }
    /// ``Code/unsupported``
    public static var unsupported: Code { .unsupported }
    /// ``Code/unknownEnvironment``
    public static var unknownEnvironment: Code { .unknownEnvironment }
    /// ``Code/sessionInvalidated``
    public static var sessionInvalidated: Code { .sessionInvalidated }
    /// ``Code/resetInProgress``
    public static var resetInProgress: Code { .resetInProgress }
    /// ``Code/circuitOpen``
    public static var circuitOpen: Code { .circuitOpen }
    /// ``Code/notCached``
    public static var notCached: Code { .notCached }
    /// ``Code/cancelled``
    public static var cancelled: Code { .cancelled }
    /// ``Code/timedOut``
    public static var timedOut: Code { .timedOut }
    /// ``Code/cannotConnect``
    public static var cannotConnect: Code { .cannotConnect }
    /// ``Code/cannotFindHost``
    public static var cannotFindHost: Code { .cannotFindHost }
    /// ``Code/noInternetConnection``
    public static var noInternetConnection: Code { .noInternetConnection }
    /// ``Code/connectionLost``
    public static var connectionLost: Code { .connectionLost }
    /// ``Code/insecureConnection``
    public static var insecureConnection: Code { .insecureConnection }
    /// ``Code/cannotAuthenticate``
    public static var cannotAuthenticate: Code { .cannotAuthenticate }
    /// ``Code/invalidResponse``
    public static var invalidResponse: Code { .invalidResponse }
    /// ``Code/truncatedBody``
    public static var truncatedBody: Code { .truncatedBody }
    /// ``Code/responseTooLarge``
    public static var responseTooLarge: Code { .responseTooLarge }
    /// ``Code/headersTooLarge``
    public static var headersTooLarge: Code { .headersTooLarge }
    /// ``Code/webSocketClosed``
    public static var webSocketClosed: Code { .webSocketClosed }
    /// ``Code/cannotDecodeResponse``
    public static var cannotDecodeResponse: Code { .cannotDecodeResponse }
    /// ``Code/cannotWriteFile``
    public static var cannotWriteFile: Code { .cannotWriteFile }
    /// ``Code/verificationFailed``
    public static var verificationFailed: Code { .verificationFailed }
    /// ``Code/tooManyRedirects``
    public static var tooManyRedirects: Code { .tooManyRedirects }
    /// ``Code/redirectRefused``
    public static var redirectRefused: Code { .redirectRefused }
    /// ``Code/badRequest``
    public static var badRequest: Code { .badRequest }
    /// ``Code/unauthorized``
    public static var unauthorized: Code { .unauthorized }
    /// ``Code/forbidden``
    public static var forbidden: Code { .forbidden }
    /// ``Code/notFound``
    public static var notFound: Code { .notFound }
    /// ``Code/error4xx``
    public static var error4xx: Code { .error4xx }
    /// ``Code/serverError``
    public static var serverError: Code { .serverError }
    /// ``Code/error5xx``
    public static var error5xx: Code { .error5xx }
    /// ``Code/redirection``
    public static var redirection: Code { .redirection }
    /// ``Code/unexpectedStatus``
    public static var unexpectedStatus: Code { .unexpectedStatus }
    /// ``Code/custom``
    public static var custom: Code { .custom }
    /// ``Code/other``
    public static var other: Code { .other }
    /// ``Code/noData``
    public static var noData: Code { .noData }
    /// ``Code/decodingFailed``
    public static var decodingFailed: Code { .decodingFailed }
    /// ``Code/unexpectedContentType``
    public static var unexpectedContentType: Code { .unexpectedContentType }
    /// ``Code/unknown``
    public static var unknown: Code { .unknown }
}
