/// Maps a status to an error code and to a message for a person.
///
/// With ``standard`` an error describes the failure in plain words, with the status, and with the time to wait if the
/// server sent one:
///
/// | status | code | message |
/// |---|---|---|
/// | 400 | `badRequest` | Bad request (400) |
/// | 401 | `unauthorized` | Sign in first (401) |
/// | 403 | `forbidden` | Not allowed (403) |
/// | 404 | `notFound` | Not found (404) |
/// | 410 | `error4xx` | No longer available (410) |
/// | 429 | `error4xx` | Too many requests (429), try again in 20 s |
/// | other 4xx | `error4xx` | words for the status: Locked (423) |
/// | 500 | `serverError` | The server failed (500) |
/// | 503 | `error5xx` | The server is not available (503) |
/// | other 5xx | `error5xx` | words for the status: The server did not respond in time (504) |
/// | 3xx | `redirection` | The server sent a redirect (302) |
/// | any other | `unexpectedStatus` | Unexpected status (799) |
public struct StatusMap: Sendable {
    let code: @Sendable (_ status: Int, _ hasServerMessage: Bool) -> NetworkError.Code
    /// Returns the message for a status. Nil for plain words.
    let message: (@Sendable (_ status: Int) -> String)?

    /// Creates a map.
    ///
    /// - Parameters:
    ///   - code: Returns the code for a status that was not accepted.
    ///   - message: Returns the message for a status that was not accepted. A timeout, a failed connection or an
    ///     invalid response then says "Please check your network connection.". Nil, the default, for plain words.
    public init(
        code: @escaping @Sendable (_ status: Int) -> NetworkError.Code = { StatusMap.code(for: $0) },
        message: (@Sendable (_ status: Int) -> String)? = nil
    ) {
        self.code = { status, _ in code(status) }
        self.message = message
    }

    private init(_ code: @escaping @Sendable (_ status: Int, _ hasServerMessage: Bool) -> NetworkError.Code) {
        self.code = code
        message = nil
    }

    /// The default map: each error describes its status in plain words.
    public static let standard = StatusMap()

    /// A map for services that explain their errors. A JSON or XML body with a message has the code
    /// ``NetworkError/Code/custom``, and its ``NetworkError/errorDescription`` is that message alone. Any other body has
    /// the code ``NetworkError/Code/other``, "Something went wrong".
    public static let service = StatusMap { _, hasServerMessage in hasServerMessage ? .custom : .other }

    /// Returns the code for a status, as in ``standard``.
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
