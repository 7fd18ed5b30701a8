import SwitchboardText

extension NetworkError {
    /// The kind of failure. ``NetworkErrorCodes`` lists them. The set is open: match with `catch NetworkError.timedOut`,
    /// ``isKind(of:)``, `==` or a `switch` with a `default`. The first two include special codes. `==` and a `switch`
    /// over a code do not.
    public struct Code: NetworkErrorCodes, RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The name of the code.
        public let rawValue: String

        /// Creates a custom code. Give it a name that no code here has.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        fileprivate init(_ rawValue: String) {
            self.rawValue = rawValue
        }

        /// The general code that includes this one, or nil. `catch NetworkError.cannotConnect` also catches its special
        /// cases.
        public var parent: Code? { Self.parents[self] }

        /// Returns whether this code is `other` or a special case of it.
        public func isKind(of other: Code) -> Bool {
            self == other || parent?.isKind(of: other) == true
        }

        /// The name of the code.
        public var description: String { rawValue }

        /// Matches an error by its code in `catch` and `case`.
        public static func ~= (pattern: Code, error: any Error) -> Bool {
            (error as? NetworkError)?.code.isKind(of: pattern) == true
        }

        private static let parents: [Code: Code] = [
            .missingURL: .invalidRequest, .parametersNil: .invalidRequest, .encodingFailed: .invalidRequest,
            .unreadableFile: .encodingFailed, .bodyNotAllowed: .invalidRequest, .unknownEnvironment: .invalidRequest,
            .cannotFindHost: .cannotConnect, .noInternetConnection: .cannotConnect, .connectionLost: .cannotConnect,
            .truncatedBody: .invalidResponse, .responseTooLarge: .invalidResponse, .headersTooLarge: .invalidResponse,
            .noData: .cannotDecodeResponse, .decodingFailed: .cannotDecodeResponse,
            .unexpectedContentType: .decodingFailed,
            .badRequest: .error4xx, .unauthorized: .error4xx, .forbidden: .error4xx, .notFound: .error4xx,
            .serverError: .error5xx,
        ]

        package var isStatus: Bool {
            switch self {
            case .badRequest, .unauthorized, .forbidden, .notFound, .error4xx, .serverError, .error5xx, .redirection,
                .unexpectedStatus, .custom, .other:
                true
            default: false
            }
        }
    }
}

extension NetworkError.Code {
    /// The text of the `Router` article for every failure of the transport.
    static let connectionMessage = "Please check your network connection."

    /// Whether ``connectionMessage`` describes the failure.
    var isTransport: Bool {
        switch self {
        case .timedOut, .cannotConnect, .cannotFindHost, .connectionLost, .insecureConnection, .invalidResponse: true
        default: false
        }
    }

    /// The short text for a person. Published texts are unchanged.
    var message: String {
        switch self {
        case .cancelled: "The request was cancelled."
        case .noInternetConnection: "No Internet connection"
        case .unknown, .sessionInvalidated: "Something went wrong"
        case .unsupported: Self.invalidRequest.title
        case .webSocketClosed: "The connection is closed"
        case .timedOut, .cannotConnect, .cannotFindHost, .connectionLost: Self.connectionMessage
        default: title
        }
    }

    /// The description for a developer. The raw value for a custom code.
    package var title: String {
        switch self {
        case .invalidRequest, .bodyNotAllowed, .unknownEnvironment: "Unable to create the request"
        case .missingURL: "URL is nil."
        case .parametersNil: "Parameters were nil."
        case .encodingFailed: "Parameter encoding failed."
        case .unreadableFile: "A file could not be read"
        case .unsupported: "The session does not support this"
        case .sessionInvalidated: "The session was invalidated: create a new one"
        case .resetInProgress: "The client is being reset"
        case .circuitOpen: "Requests to the server are paused after repeated failures"
        case .notCached: "No response is cached for the request"
        case .cancelled: "The request was cancelled"
        case .timedOut: "The request timed out"
        case .cannotConnect: "Could not connect to the server"
        case .cannotFindHost: "The host name could not be resolved"
        case .noInternetConnection: "No Internet connection"
        case .connectionLost: "The connection was lost"
        case .insecureConnection: "No secure connection could be made"
        case .cannotAuthenticate: "Authentication failed"
        case .invalidResponse: "The response is not valid HTTP"
        case .truncatedBody: "The response ended early"
        case .responseTooLarge: "The response is larger than the limit"
        case .headersTooLarge: "The response's header is larger than the limit"
        case .webSocketClosed: "The WebSocket is closed"
        case .cannotDecodeResponse: "The response could not be decompressed"
        case .cannotWriteFile: "The file could not be written"
        case .verificationFailed: "The downloaded file failed verification"
        case .tooManyRedirects: "Too many redirects"
        case .redirectRefused: "The redirect was not followed"
        case .badRequest: StatusText.words(for: 400)
        case .unauthorized: StatusText.words(for: 401)
        case .forbidden: StatusText.words(for: 403)
        case .notFound: StatusText.words(for: 404)
        case .error4xx: StatusText.words(for: 499)
        case .serverError, .error5xx: StatusText.words(for: 500)
        case .redirection: StatusText.words(for: 300)
        case .unexpectedStatus: StatusText.words(for: 0)
        case .custom, .other: "Something went wrong"
        case .noData: "Response returned with no data to decode."
        case .decodingFailed, .unexpectedContentType: "We could not decode the response."
        case .unknown: "The request failed"
        default: rawValue
        }
    }
}

/// The codes, as members of ``NetworkError/Code`` and of ``NetworkError``, so that `catch NetworkError.timedOut` reads
/// as `catch URLError.timedOut` does.
public protocol NetworkErrorCodes {}

extension NetworkError: NetworkErrorCodes {}

extension NetworkErrorCodes {
    // The request could not be created. Nothing was sent.

    /// The request could not be created: a bad URL, method or header. Also catches ``missingURL``,
    /// ``parametersNil``, ``encodingFailed``, ``bodyNotAllowed`` and ``unknownEnvironment``.
    public static var invalidRequest: NetworkError.Code { NetworkError.Code("invalidRequest") }
    /// The request has no URL.
    public static var missingURL: NetworkError.Code { NetworkError.Code("missingURL") }
    /// Parameters were needed, but nil was given.
    public static var parametersNil: NetworkError.Code { NetworkError.Code("parametersNil") }
    /// A parameter or a body value could not be encoded. Also catches ``unreadableFile``.
    public static var encodingFailed: NetworkError.Code { NetworkError.Code("encodingFailed") }
    /// A file to send is missing, is a folder or cannot be read. The reason names it.
    public static var unreadableFile: NetworkError.Code { NetworkError.Code("unreadableFile") }
    /// A GET, HEAD or TRACE request has a body.
    public static var bodyNotAllowed: NetworkError.Code { NetworkError.Code("bodyNotAllowed") }
    /// The session does not support an option of the request, the system lacks zlib or a hash function, or a body
    /// without a length meets a server that speaks HTTP/1.0.
    public static var unsupported: NetworkError.Code { NetworkError.Code("unsupported") }
    /// The servers have no URL for the environment.
    public static var unknownEnvironment: NetworkError.Code { NetworkError.Code("unknownEnvironment") }
    /// The session was invalidated before the request was sent, or shut down while it was in flight.
    public static var sessionInvalidated: NetworkError.Code { NetworkError.Code("sessionInvalidated") }
    /// The router was being reset when the request started.
    public static var resetInProgress: NetworkError.Code { NetworkError.Code("resetInProgress") }
    /// A `CircuitBreaker` is open because the host failed too often recently. Nothing was sent.
    public static var circuitOpen: NetworkError.Code { NetworkError.Code("circuitOpen") }
    /// The request is cache-only, and no response is cached.
    public static var notCached: NetworkError.Code { NetworkError.Code("notCached") }

    // No complete response arrived.

    /// The request was canceled. Async calls throw `CancellationError` instead.
    public static var cancelled: NetworkError.Code { NetworkError.Code("cancelled") }
    /// A timeout passed. The reason says which one.
    public static var timedOut: NetworkError.Code { NetworkError.Code("timedOut") }
    /// No connection could be made, whatever the cause. Also catches ``cannotFindHost``, ``noInternetConnection``
    /// and ``connectionLost``.
    public static var cannotConnect: NetworkError.Code { NetworkError.Code("cannotConnect") }
    /// The host name could not be resolved.
    public static var cannotFindHost: NetworkError.Code { NetworkError.Code("cannotFindHost") }
    /// This device is offline.
    public static var noInternetConnection: NetworkError.Code { NetworkError.Code("noInternetConnection") }
    /// The connection broke before the response was complete.
    public static var connectionLost: NetworkError.Code { NetworkError.Code("connectionLost") }
    /// TLS failed: a bad certificate, host name or version, or a server without TLS.
    public static var insecureConnection: NetworkError.Code { NetworkError.Code("insecureConnection") }
    /// The server or proxy requires credentials, and none is available: nobody has signed in, the sign-in has
    /// ended, or a provider of credentials failed.
    public static var cannotAuthenticate: NetworkError.Code { NetworkError.Code("cannotAuthenticate") }
    /// The response is not HTTP or violates its rules. Also catches ``truncatedBody``, ``responseTooLarge`` and
    /// ``headersTooLarge``.
    public static var invalidResponse: NetworkError.Code { NetworkError.Code("invalidResponse") }
    /// The body ended before its announced length or before its last chunk.
    public static var truncatedBody: NetworkError.Code { NetworkError.Code("truncatedBody") }
    /// The body, or a line, an event, a part or a message in it, is larger than its limit, or it is compressed more
    /// than ``ResponseLimits/decompressionRatio`` allows. The reason names the limit.
    public static var responseTooLarge: NetworkError.Code { NetworkError.Code("responseTooLarge") }
    /// The head is larger than ``ResponseLimits/responseHeaders``, or than the transport accepts.
    public static var headersTooLarge: NetworkError.Code { NetworkError.Code("headersTooLarge") }
    /// A WebSocket has ended, so nothing can be sent. Its `closure` has the code and the reason of the end.
    public static var webSocketClosed: NetworkError.Code { NetworkError.Code("webSocketClosed") }
    /// The body's content encoding is damaged or, on Linux, unknown to ``FoundationSession``. Also catches
    /// ``noData``, ``decodingFailed`` and ``unexpectedContentType``.
    public static var cannotDecodeResponse: NetworkError.Code { NetworkError.Code("cannotDecodeResponse") }
    /// A file could not be written, such as a download, a token or an archive, or the folder of a cache could not
    /// be used.
    public static var cannotWriteFile: NetworkError.Code { NetworkError.Code("cannotWriteFile") }
    /// A downloaded file failed the check that the download specified.
    public static var verificationFailed: NetworkError.Code { NetworkError.Code("verificationFailed") }

    // Redirects.

    /// The server sent more redirects than allowed.
    public static var tooManyRedirects: NetworkError.Code { NetworkError.Code("tooManyRedirects") }
    /// A redirect was not followed: it leads from https to http, to another scheme, to an invalid URL or to several
    /// URLs, or the body cannot be sent again. Such a link to the next page fails too.
    public static var redirectRefused: NetworkError.Code { NetworkError.Code("redirectRefused") }

    // A response arrived, and its status was not accepted.

    /// 400.
    public static var badRequest: NetworkError.Code { NetworkError.Code("badRequest") }
    /// 401.
    public static var unauthorized: NetworkError.Code { NetworkError.Code("unauthorized") }
    /// 403.
    public static var forbidden: NetworkError.Code { NetworkError.Code("forbidden") }
    /// 404.
    public static var notFound: NetworkError.Code { NetworkError.Code("notFound") }
    /// 402 and 405 to 499. Also catches the codes of 400, 401, 403 and 404.
    public static var error4xx: NetworkError.Code { NetworkError.Code("error4xx") }
    /// 500.
    public static var serverError: NetworkError.Code { NetworkError.Code("serverError") }
    /// 501 to 599. Also catches ``serverError``.
    public static var error5xx: NetworkError.Code { NetworkError.Code("error5xx") }
    /// 300 to 399 that was not followed, including 304.
    public static var redirection: NetworkError.Code { NetworkError.Code("redirection") }
    /// Any other status that was not accepted.
    public static var unexpectedStatus: NetworkError.Code { NetworkError.Code("unexpectedStatus") }
    /// With ``StatusMap/service``, a status that was not accepted and whose JSON or XML body has a message: the
    /// text of the error is that message. In an error of the app, the text is its reason.
    public static var custom: NetworkError.Code { NetworkError.Code("custom") }
    /// With ``StatusMap/service``, a status that was not accepted and whose body has no message.
    public static var other: NetworkError.Code { NetworkError.Code("other") }

    // The response was accepted, but yielded no value.

    /// The body is empty, but a value was expected.
    public static var noData: NetworkError.Code { NetworkError.Code("noData") }
    /// The body does not match the expected value. The reason contains the key path. Also catches
    /// ``unexpectedContentType``.
    public static var decodingFailed: NetworkError.Code { NetworkError.Code("decodingFailed") }
    /// The body has another media type than the expected value, such as HTML.
    public static var unexpectedContentType: NetworkError.Code { NetworkError.Code("unexpectedContentType") }

    /// Any other failure, such as an error that an interceptor threw.
    public static var unknown: NetworkError.Code { NetworkError.Code("unknown") }
}
