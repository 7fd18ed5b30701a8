/// From a status to an error code and the message for a person.
///
/// | status | code | ``standard`` says | ``article`` says |
/// |---|---|---|---|
/// | 400 | `badRequest` | Bad request | Network request failed. |
/// | 401 | `unauthorized` | You need to be authenticated first. | the same |
/// | 403 | `forbidden` | You need to be authenticated first. | the same |
/// | 404 | `notFound` | The url you requested is outdated. | You need to be authenticated first. |
/// | 407 | `error4xx` | You need to be authenticated first. | the same |
/// | 410 | `error4xx` | The url you requested is outdated. | You need to be authenticated first. |
/// | other 4xx | `error4xx` | Network request failed. | You need to be authenticated first. |
/// | 500 | `serverError` | Network request failed. | You need to be authenticated first. |
/// | 501 to 599 | `error5xx` | Network request failed. | Bad request |
/// | 3xx | `redirection` | Network request failed. | the same |
/// | 600 | `unexpectedStatus` | Network request failed. | The url you requested is outdated. |
/// | any other | `unexpectedStatus` | Network request failed. | the same |
public struct StatusMap: Sendable {
    let code: @Sendable (_ status: Int, _ hasServerMessage: Bool) -> NetworkError.Code
    let message: @Sendable (_ status: Int) -> ResponseMessage

    /// Makes a map.
    ///
    /// - Parameters:
    ///   - code: The code for a status that was not accepted.
    ///   - message: The message for a status.
    public init(
        code: @escaping @Sendable (_ status: Int) -> NetworkError.Code = { StatusMap.code(for: $0) },
        message: @escaping @Sendable (_ status: Int) -> ResponseMessage
    ) {
        self.code = { status, _ in code(status) }
        self.message = message
    }

    private init(
        _ code: @escaping @Sendable (_ status: Int, _ hasServerMessage: Bool) -> NetworkError.Code,
        _ message: @escaping @Sendable (_ status: Int) -> ResponseMessage
    ) {
        self.code = code
        self.message = message
    }

    /// Each status says what it means. The default.
    public static let standard = StatusMap { status in
        switch status {
        case 200...299: .success
        case 400: .badRequest
        case 401, 403, 407: .authenticationError
        case 404, 410: .outdated
        default: .failed
        }
    }

    /// The map as the article published it, for apps that show its messages: all of 401 to 500 ask for a login.
    public static let article = StatusMap { status in
        switch status {
        case 200...299: .success
        case 401...500: .authenticationError
        case 501...599: .badRequest
        case 600: .outdated
        default: .failed
        }
    }

    /// Services that explain themselves: a body with a message is ``NetworkError/Code/custom``, whose
    /// ``NetworkError/errorDescription`` is that message alone; any other is ``NetworkError/Code/other``, "Something
    /// went wrong".
    public static let service = StatusMap(
        { _, hasServerMessage in hasServerMessage ? .custom : .other }, standard.message)

    /// The message for a status.
    public func message(for status: Int) -> ResponseMessage {
        message(status)
    }

    /// The code for a status, as ``standard`` and ``article`` have it.
    public static func code(for status: Int) -> NetworkError.Code {
        switch status {
        case 300...399: .redirection
        case 400: .badRequest
        case 401: .unauthorized
        case 403: .forbidden
        case 404: .notFound
        case 402, 405...499: .error4xx
        case 500: .serverError
        case 501...599: .error5xx
        default: .unexpectedStatus
        }
    }
}
