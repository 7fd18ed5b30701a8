import SwitchboardText

extension NetworkError {
    /// What went wrong: an open set, so match with `==`, `catch NetworkError.timedOut` or a `switch` with a `default`.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The name of the code.
        public let rawValue: String

        /// Makes a code of your own; give it a name that no code here has.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        private init(_ rawValue: String) {
            self.rawValue = rawValue
        }

        // The request could not be made; nothing was sent.

        /// The request could not be constructed: a bad URL, method or header. Also catches ``missingURL``,
        /// ``parametersNil``, ``encodingFailed``, ``bodyNotAllowed`` and ``unknownEnvironment``.
        public static let invalidRequest = Code("invalidRequest")
        /// There was no URL to write to.
        public static let missingURL = Code("missingURL")
        /// Parameters were needed and there were none.
        public static let parametersNil = Code("parametersNil")
        /// A parameter or a body value could not be encoded. Also catches ``unreadableFile``.
        public static let encodingFailed = Code("encodingFailed")
        /// A file to be sent is not there, is a folder, or cannot be read; the reason names it.
        public static let unreadableFile = Code("unreadableFile")
        /// GET, HEAD or TRACE with a body.
        public static let bodyNotAllowed = Code("bodyNotAllowed")
        /// The session cannot do what the request asks for.
        public static let unsupported = Code("unsupported")
        /// The servers have no URL for the environment.
        public static let unknownEnvironment = Code("unknownEnvironment")
        /// The session was invalidated before the request.
        public static let sessionInvalidated = Code("sessionInvalidated")
        /// The chain was being reset when the request came.
        public static let resetInProgress = Code("resetInProgress")
        /// A `CircuitBreaker` is open: the host failed too often a moment ago. Nothing was sent.
        public static let circuitOpen = Code("circuitOpen")
        /// A `ResponseCache` has nothing stored, and the request said that it is not to be sent.
        public static let notCached = Code("notCached")

        // No complete response arrived.

        /// The request was cancelled. Async calls throw `CancellationError` instead.
        public static let cancelled = Code("cancelled")
        /// A timeout passed; the reason says which.
        public static let timedOut = Code("timedOut")
        /// No connection, for any cause of the network's. Also catches ``cannotFindHost``, ``noInternetConnection`` and
        /// ``connectionLost``.
        public static let cannotConnect = Code("cannotConnect")
        /// The host name could not be resolved.
        public static let cannotFindHost = Code("cannotFindHost")
        /// This machine is offline.
        public static let noInternetConnection = Code("noInternetConnection")
        /// The connection broke before the response was complete.
        public static let connectionLost = Code("connectionLost")
        /// TLS failed: certificate, name, version, or a server that speaks none.
        public static let insecureConnection = Code("insecureConnection")
        /// The server or proxy asked for credentials that the transport could not give.
        public static let cannotAuthenticate = Code("cannotAuthenticate")
        /// What arrived is not HTTP, or breaks its rules. Also catches ``truncatedBody``, ``responseTooLarge`` and
        /// ``headersTooLarge``.
        public static let invalidResponse = Code("invalidResponse")
        /// The body ended before its announced length or its last chunk.
        public static let truncatedBody = Code("truncatedBody")
        /// The body is larger than ``ResponseLimits/responseBody``.
        public static let responseTooLarge = Code("responseTooLarge")
        /// The head is larger than the session accepts.
        public static let headersTooLarge = Code("headersTooLarge")
        /// The body's content encoding is unknown or damaged. Also catches ``noData``, ``decodingFailed`` and
        /// ``unexpectedContentType``.
        public static let cannotDecodeResponse = Code("cannotDecodeResponse")
        /// A downloaded body could not be written to its file.
        public static let cannotWriteFile = Code("cannotWriteFile")
        /// A downloaded file was refused by the check that the download was given.
        public static let verificationFailed = Code("verificationFailed")

        // Redirects.

        /// More redirects than allowed.
        public static let tooManyRedirects = Code("tooManyRedirects")
        /// A redirect that is not followed: https to http, another scheme, a URL that is none, a body that cannot be
        /// sent again. Also a link to the next page of that kind.
        public static let redirectRefused = Code("redirectRefused")

        // A response arrived and its status was not accepted.

        /// 400.
        public static let badRequest = Code("badRequest")
        /// 401.
        public static let unauthorized = Code("unauthorized")
        /// 403.
        public static let forbidden = Code("forbidden")
        /// 404.
        public static let notFound = Code("notFound")
        /// 402 and 405 to 499.
        public static let error4xx = Code("error4xx")
        /// 500.
        public static let serverError = Code("serverError")
        /// 501 to 599.
        public static let error5xx = Code("error5xx")
        /// 300 to 399 that was not followed, 304 included.
        public static let redirection = Code("redirection")
        /// Any other status that was not accepted.
        public static let unexpectedStatus = Code("unexpectedStatus")
        /// The server explained itself: ``NetworkError/message`` is what it said. Only with ``StatusMap/service``.
        public static let custom = Code("custom")
        /// The server did not explain itself. Only with ``StatusMap/service``.
        public static let other = Code("other")

        // The response was accepted and gave no value.

        /// The body is empty where a value was expected.
        public static let noData = Code("noData")
        /// The body is not the value expected; the reason has the key path.
        public static let decodingFailed = Code("decodingFailed")

        /// The body is of another media type than the value expected, HTML for instance.
        public static let unexpectedContentType = Code("unexpectedContentType")

        /// None of the above.
        public static let unknown = Code("unknown")

        /// The general code that this one is a case of, or nil. `catch NetworkError.cannotConnect` also catches its
        /// special cases.
        public var parent: Code? { Self.parents[self] }

        /// Whether this is `other` or a special case of it.
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
        ]

        /// Whether the code says that a status was not accepted.
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
    /// The short text for a person; the published one where a design has it.
    var message: String {
        switch self {
        case .cancelled: "The request was cancelled."
        case .noInternetConnection: "No Internet connection"
        case .unknown: "Something went wrong"
        case .timedOut, .cannotConnect, .cannotFindHost, .connectionLost, .insecureConnection, .invalidResponse,
            .unknown:
            "Please check your network connection."
        default: title
        }
    }

    /// What happened, for a developer.
    var title: String {
        switch self {
        case .invalidRequest: "Unable to create the request"
        case .missingURL: "URL is nil."
        case .parametersNil: "Parameters were nil."
        case .encodingFailed: "Parameter encoding failed."
        case .unreadableFile: "A file could not be read"
        case .bodyNotAllowed: "A request with this method must not have a body"
        case .unsupported: "The session does not support this"
        case .unknownEnvironment: "No server is known for the environment"
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
        case .cannotDecodeResponse: "The response could not be decompressed"
        case .cannotWriteFile: "The downloaded file could not be written"
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
