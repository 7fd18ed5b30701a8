import SwitchboardPlatform
import SwitchboardText
import Foundation

/// The error of every call. A call throws nothing else, except for `CancellationError`.
///
/// ```swift
/// do {
///     let page = try await router.request(
///         .newMovies(page: 1), as: MoviePage.self)
///     show(page)
/// } catch NetworkError.timedOut {
///     showOffline()
/// } catch let error as NetworkError where error.statusCode == 422 {
///     show(try error.decode(ServerError.self).message)
/// }
/// ```
///
/// The error is a struct over an open ``Code``, like `URLError`, so that new codes do not break clients. A general code
/// also catches its special cases: `catch NetworkError.cannotConnect` catches ``Code/cannotFindHost`` and
/// ``Code/connectionLost``. See ``Code/parent``.
///
/// Texts made from an error (``description``, ``errorDescription``) contain no secrets: ``Redaction/standard`` redacts
/// their URLs.
public struct NetworkError: Error, Sendable {
    private struct Fields: Sendable {
        var code: Code
        var reason: String?
        var url: URL?
        var method: HTTPMethod?
        /// Nil for the name of the request's endpoint, which is made when it is read: reflection takes longer than the
        /// rest of an error.
        var endPointName: String??
        var statusCode: Int?
        var headers: HTTPHeaders?
        var body: Data?
        var serverMessage: String?
        var attempts: Int = 1
        var underlying: (any Error)?
        var title: String?
        var statusMapMessage: String?
        var wait: Duration?
        var replay: Replay?
        var isStub = false
        var isOffline = false
        var request: NetworkRequest?
    }

    /// A reference, because each function that throws or passes the error reserves stack space for it.
    private var fields: CopyOnWrite<Fields>

    /// The kind of failure.
    public internal(set) var code: Code {
        get { fields.value.code }
        set { fields.value.code = newValue }
    }
    /// The cause in words: the value and the rule that it broke, or the transport's message. Contains no secrets. Nil
    /// when the code needs no explanation.
    public var reason: String? {
        get { fields.value.reason }
        set { fields.value.reason = newValue }
    }
    /// The URL of the request, as it was sent. Its query may contain secrets.
    public var url: URL? {
        get { fields.value.url }
        set { fields.value.url = newValue }
    }
    /// The method of the request.
    public var method: HTTPMethod? {
        get { fields.value.method }
        set { fields.value.method = newValue }
    }
    /// The type and case of the endpoint, without associated values: `MovieApi.newMovies`. Nil for a bare request.
    public var endPointName: String? {
        get { fields.value.endPointName ?? request?.endPointName }
        set { fields.value.endPointName = .some(newValue) }
    }
    /// The status of the response, or nil when no complete head arrived.
    public var statusCode: Int? {
        get { fields.value.statusCode }
        set { fields.value.statusCode = newValue }
    }
    /// The head of the response, or nil when no complete head arrived.
    public var headers: HTTPHeaders? {
        get { fields.value.headers }
        set { fields.value.headers = newValue }
    }
    /// The body of the response, up to the size limit and as far as it arrived. Nil when no head arrived.
    public var body: Data? {
        get { fields.value.body }
        set { fields.value.body = newValue }
    }
    /// The server's error message, if the body has one: in JSON under a key of ``RequestOptions/messageKeys``, in an
    /// XML error, or as plain text.
    public var serverMessage: String? {
        get { fields.value.serverMessage }
        set { fields.value.serverMessage = newValue }
    }
    /// The number of attempts, including the first. 1 even if nothing was sent. Redirects, sign-ins and hedged requests
    /// do not count.
    public var attempts: Int {
        get { fields.value.attempts }
        set { fields.value.attempts = newValue }
    }
    /// The underlying error: a `URLError`, a `CurlError`, a `DecodingError`, or an error thrown by an encoder or
    /// interceptor.
    public var underlying: (any Error)? {
        get { fields.value.underlying }
        set { fields.value.underlying = newValue }
    }
    /// A text that replaces the title and the message of the code.
    package var title: String? {
        get { fields.value.title }
        set { fields.value.title = newValue }
    }
    /// The short text for a person, from a status map or the `Router` article. Nil for the text of the code.
    var statusMapMessage: String? {
        get { fields.value.statusMapMessage }
        set { fields.value.statusMapMessage = newValue }
    }
    /// The server's `Retry-After` as a duration, measured when the error was made.
    var wait: Duration? {
        get { fields.value.wait }
        set { fields.value.wait = newValue }
    }
    package var isStub: Bool {
        get { fields.value.isStub }
        set { fields.value.isStub = newValue }
    }
    /// Whether this machine was on no network when a session reported that the exchange failed.
    package var isOffline: Bool {
        get { fields.value.isOffline }
        set { fields.value.isOffline = newValue }
    }
    /// The response as far as it arrived. Nil when no complete head arrived, except with status 0 for a stub.
    var partialResponse: NetworkResponse? {
        guard statusCode != nil || isStub else { return nil }
        var response = NetworkResponse(statusCode: statusCode ?? 0, headers: headers ?? [:], body: body ?? Data())
        response.isStub = isStub
        return response
    }
    /// The reason to send the request once more. Nil for a final error.
    var replay: Replay? {
        get { fields.value.replay }
        set { fields.value.replay = newValue }
    }

    /// Creates an error, for instance in an interceptor or a stub.
    public init(_ code: Code, reason: String? = nil, underlying: (any Error)? = nil) {
        fields = CopyOnWrite(Fields(code: code, reason: reason, underlying: underlying))
    }

    /// The failed request, as it was sent. Nil if the request could not be built.
    public package(set) var request: NetworkRequest? {
        get { fields.value.request }
        set { fields.value.request = newValue }
    }

    /// The code of the underlying `URLError`, if URLSession reported the failure.
    public var urlErrorCode: URLError.Code? {
        (underlying as? URLError)?.code
    }
}

extension NetworkError: LocalizedError, DescribedByReason, DumpedAsDescription {
    private var redaction: Redaction { request?.redaction(extending: .standard) ?? .standard }

    /// The short text of ``errorDescription``, without the cause.
    package var message: String {
        if code == .custom, let text = serverMessage ?? reason { return redaction.pairs(in: text) }
        if code == .unknown, let text = (underlying as? any LocalizedError)?.errorDescription {
            return redaction.pairs(in: text)
        }
        // A failure that URLSession cannot name is a network failure. An unknown error from elsewhere may not be one.
        if code == .unknown, urlErrorCode != nil { return NetworkError.Code.cannotConnect.message }
        if let statusWords, let status = statusCode { return "\(statusWords) (\(status))\(waitText)" }
        return statusMapMessage ?? title ?? code.message
    }

    private var statusWords: String? {
        guard statusMapMessage == nil, code.isStatus, code != .custom, code != .other else { return nil }
        return statusCode.map(StatusText.words)
    }

    private var waitText: String {
        wait.map { $0 > .zero ? ", try again in \($0.waitText)" : "" } ?? ""
    }

    /// The `localizedDescription`, a short text for a person: "The server's certificate is not trusted", "Not found
    /// (404)", "Too many requests (429), try again in 20 s". For ``Code/custom`` it is the server's message, or else
    /// the reason, and for another error of an interceptor its own `errorDescription`. For a request that cannot be
    /// created, it also has the cause. ``description`` is the text for a developer.
    public var errorDescription: String? {
        guard code.isKind(of: .invalidRequest) || code == .unsupported, let failureReason else { return message }
        guard message.hasSuffix(".") else { return "\(message): \(failureReason)" }
        return "\(message) \(failureReason.asSentence)"
    }

    /// The cause, as in ``reason``, with the secrets of URLs redacted.
    public var failureReason: String? {
        (reason ?? (underlying as? NetworkError)?.reason).map(redaction.pairs)
    }

    /// Everything but secrets: the failure, its cause and the request. One line, unless the reason has several.
    public var description: String {
        let context = [requestLine, endPointName].compactMap { $0 }.joined(separator: ", ")
        return summary + (context.isEmpty ? "" : " (\(context))") + (attempts > 1 ? " after \(attempts) attempts" : "")
    }

    package var summary: String {
        var text = title ?? code.title
        if let status = statusCode, code.isStatus {
            text = "HTTP \(status): \(statusWords.map { $0 + waitText } ?? message)"
        }
        func add(_ more: String) {
            let isSentence = text.last == "." || text.last == "!" || text.last == "?"
            text += isSentence ? " " + more.asSentence : ": " + more
        }
        if let words = serverMessage.map(redaction.pairs), words != message {
            add("the server says \(words.quotedForMessage)")
        }
        if let reason {
            add(redaction.pairs(in: reason))
        } else if let underlying {
            add(Self.text(of: underlying))
        }
        return text
    }

    private var requestLine: String? {
        let method = method.map { $0.rawValue.isHTTPToken ? $0.rawValue : $0.rawValue.quotedForMessage }
        guard let url else { return method }
        return [method, redaction.url(url.absoluteString)].compactMap { $0 }.joined(separator: " ")
    }

    /// Returns the text of any error, with the secrets of URLs redacted. For a plain Swift enum or struct, returns only
    /// the names of its type and case.
    package static func text(of error: any Error) -> String {
        if let error = error as? NetworkError { return error.description }
        if let text = (error as? any LocalizedError)?.errorDescription { return Redaction.standard.pairs(in: text) }
        if error is any CustomNSError { return Redaction.standard.pairs(in: error.localizedDescription) }
        // For a Swift error, `localizedDescription` is meaningless, and the payload may contain a secret.
        let mirror = Mirror(reflecting: error)
        guard mirror.displayStyle == .enum else {
            return type(of: error) is AnyClass
                ? Redaction.standard.pairs(in: error.localizedDescription) : String(describing: type(of: error))
        }
        return "\(type(of: error)).\(mirror.children.first?.label ?? String(describing: error))"
    }
}

extension String {
    /// The text with a capital, if it begins with a word and not with a key path or a media type.
    fileprivate var asSentence: String {
        let isWord = prefix { $0 != " " }.allSatisfy { $0.isLetter || $0 == "'" }
        return isWord ? prefix(1).uppercased() + dropFirst() : self
    }
}

extension NetworkError {
    /// Returns a `NetworkError` or a `CancellationError` unchanged, and wraps any other error of an app's closure in
    /// the code. The reason omits the error's text, which may contain a secret.
    package static func thrown(_ error: any Error, by name: String, _ code: Code) -> any Error {
        guard !(error is NetworkError), !(error is CancellationError) else { return error }
        return NetworkError(code, reason: "\(name) threw a \(type(of: error))", underlying: error)
    }
}

extension NetworkError: Equatable {
    /// Compares code, reason, request, endpoint, response and attempts, but not the underlying error.
    public static func == (lhs: NetworkError, rhs: NetworkError) -> Bool {
        lhs.code == rhs.code && lhs.reason == rhs.reason && lhs.url == rhs.url && lhs.method == rhs.method
            && lhs.endPointName == rhs.endPointName && lhs.statusCode == rhs.statusCode && lhs.headers == rhs.headers
            && lhs.body == rhs.body && lhs.serverMessage == rhs.serverMessage && lhs.attempts == rhs.attempts
    }
}

extension NetworkError {
    /// The response that was not accepted, as far as it arrived. Nil if no head arrived.
    public var response: NetworkResponse? {
        guard let status = statusCode else { return nil }
        var response = NetworkResponse(statusCode: status, headers: headers ?? [:], body: body ?? Data(), url: url)
        response.request = request
        return response
    }

    /// Returns whether the error is about this request. An interceptor may throw the error of another one, such as that
    /// of its credential provider.
    package func isAbout(_ request: NetworkRequest) -> Bool { self.request.map { $0.id == request.id } ?? true }

    /// Returns the error with the request attached, unless it already has one.
    package func attributed(to request: NetworkRequest) -> NetworkError {
        guard self.request == nil else { return self }
        var error = self
        error.request = request
        error.url = url ?? request.url
        error.method = method ?? request.method
        return error
    }

    /// Returns the error with the response, its request and the number of attempts attached.
    package func with(_ response: NetworkResponse) -> NetworkError {
        var error = response.request.map(attributed) ?? self
        error.attempts = max(error.attempts, response.request?.call?.totalAttempts ?? 1)
        error.statusCode = response.statusCode
        error.headers = response.headers
        error.body = response.body
        error.url = response.url ?? error.url
        return error
    }
}

extension NetworkRequest {
    /// The type and case of the endpoint, without associated values, which may be secrets: `MovieApi.newMovies`.
    public var endPointName: String? {
        endPoint.map { endPoint in callEnvironment.run { endPoint.name } }
    }
}

/// The reason why a session resends a request itself, over a new connection and as a separate exchange.
enum Replay: String {
    /// The kept-alive connection was dead.
    case onNewConnection = "a kept-alive connection that had ended"
    /// The HTTP/2 stream ended with its connection.
    case afterEndedStream = "an HTTP/2 stream that ended without an answer"
    /// The server has certainly not processed the request ([RFC 9113
    /// §8.7](https://www.rfc-editor.org/rfc/rfc9113#section-8.7)).
    case unprocessed = "a request that the server did not process"
}
