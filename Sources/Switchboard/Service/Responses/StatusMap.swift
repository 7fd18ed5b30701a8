/// Maps a status to an error code and to a message for a person.
///
/// With ``standard`` an error describes the failure in plain words, with the status, and with the time to wait if the
/// server sent one. With any other map it contains the ``ResponseMessage`` of the map.
///
/// | status | code | with ``standard`` | with ``article`` |
/// |---|---|---|---|
/// | 400 | `badRequest` | Bad request (400) | Network request failed. |
/// | 401 | `unauthorized` | Sign in first (401) | You need to be authenticated first. |
/// | 403 | `forbidden` | Not allowed (403) | You need to be authenticated first. |
/// | 404 | `notFound` | Not found (404) | You need to be authenticated first. |
/// | 410 | `error4xx` | No longer available (410) | You need to be authenticated first. |
/// | 429 | `error4xx` | Too many requests (429), try again in 20 s | You need to be authenticated first. |
/// | other 4xx | `error4xx` | words for the status: Locked (423) | You need to be authenticated first. |
/// | 500 | `serverError` | The server failed (500) | You need to be authenticated first. |
/// | 503 | `error5xx` | The server is not available (503) | Bad request |
/// | other 5xx | `error5xx` | words for the status: The server did not respond in time (504) | Bad request |
/// | 3xx | `redirection` | The server sent a redirect (302) | Network request failed. |
/// | 600 | `unexpectedStatus` | Unexpected status (600) | The url you requested is outdated. |
/// | any other | `unexpectedStatus` | Unexpected status (799) | Network request failed. |
public struct StatusMap: Sendable {
    let code: @Sendable (_ status: Int, _ hasServerMessage: Bool) -> NetworkError.Code
    let message: @Sendable (_ status: Int) -> ResponseMessage
    /// Whether errors describe their status in plain words, in place of the map's message.
    private(set) var isPlain = false

    /// Creates a map.
    ///
    /// - Parameters:
    ///   - code: Returns the code for a status that was not accepted.
    ///   - message: Returns the message for a status.
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

    /// The default map: each error describes its status in plain words.
    ///
    /// Its ``message(for:)`` maps statuses to the published outcomes: 200 to 299 are `success`, 400 is `badRequest`,
    /// 401, 403 and 407 are `authenticationError`, 404 and 410 are `outdated`, and all others are `failed`.
    public static let standard: StatusMap = {
        var map = StatusMap { status in
            switch status {
            case 200...299: .success
            case 400: .badRequest
            case 401, 403, 407: .authenticationError
            case 404, 410: .outdated
            default: .failed
            }
        }
        map.isPlain = true
        return map
    }()

    /// The map of the published article, for apps that show its messages: every status from 401 to 500 asks for a
    /// login.
    public static let article = StatusMap { status in
        switch status {
        case 200...299: .success
        case 401...500: .authenticationError
        case 501...599: .badRequest
        case 600: .outdated
        default: .failed
        }
    }

    /// A map for services that explain their errors. A body with a message has the code ``NetworkError/Code/custom``,
    /// and its ``NetworkError/errorDescription`` is that message alone. Any other body has the code
    /// ``NetworkError/Code/other``, "Something went wrong".
    public static let service = StatusMap(
        { _, hasServerMessage in hasServerMessage ? .custom : .other }, standard.message)

    /// Returns the message for a status.
    public func message(for status: Int) -> ResponseMessage {
        message(status)
    }

    /// Returns the code for a status, as in ``standard`` and ``article``.
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

/// The seven outcomes that the published `NetworkManager` shows to a person, in its words. Errors use these words with
/// ``StatusMap/article``.
public enum ResponseMessage: String, Sendable, CaseIterable {
    /// Success.
    case success
    /// A login is required.
    case authenticationError = "You need to be authenticated first."
    /// The server did not understand the request.
    case badRequest = "Bad request"
    /// The requested URL is no longer valid.
    case outdated = "The url you requested is outdated."
    /// Any other failure.
    case failed = "Network request failed."
    /// Success without a body, although a value was expected.
    case noData = "Response returned with no data to decode."
    /// Success with a body that is not the expected value.
    case unableToDecode = "We could not decode the response."
}
