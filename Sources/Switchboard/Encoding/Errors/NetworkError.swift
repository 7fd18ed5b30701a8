import SwitchboardPlatform
import Foundation
import SwitchboardText

/// The one error this package throws, besides `CancellationError`.
///
/// ```swift
/// do {
///     page = try await router.request(.newMovies(page: 1), as: MoviePage.self)
/// } catch NetworkError.timedOut {
///     retryLater()
/// } catch let error as NetworkError where error.status == 422 {
///     show(try error.decode(ServerError.self).message)
/// }
/// ```
///
/// It is a struct over an open ``Code``, as `URLError` is, so that a new code breaks nobody. A general code also
/// catches its special ones: `catch NetworkError.cannotConnect` catches ``Code/cannotFindHost`` and
/// ``Code/connectionLost``; see ``Code/parent``.
///
/// Texts made from an error (``description``, ``errorDescription``) hold no secret: URLs are redacted by
/// ``Redaction/standard``.
public struct NetworkError: Error, Sendable {
    /// What went wrong.
    public let code: Code
    /// Why, in words: the value and the rule it broke, or what the transport said. Without secrets. Nil when the code
    /// says it all.
    public var reason: String?
    /// The URL of the request, as it was sent. May hold secrets in its query.
    public var url: URL?
    /// The method of the request.
    public var method: HTTPMethod?
    /// The endpoint asked for, type and case without associated values: `MovieApi.newMovies`. Nil for a bare request.
    public var endPoint: String?
    /// The status the server answered with; nil when no complete head arrived.
    public var status: Int?
    /// The head the server answered with; nil when no complete head arrived.
    public var headers: HTTPHeaders?
    /// The body the server answered with, as far as it arrived and within the size limit. Nil when no head arrived.
    public var body: Data?
    /// What the server said about it in its body, when the body is an object with a usual key such as `message`.
    public var serverMessage: String?
    /// How often the request was sent before this error was given up to the caller.
    public var attempts = 1
    /// The error underneath: a `URLError`, a `DecodingError`, or what an encoder or interceptor threw.
    public var underlying: (any Error)?
    /// The short text for ``message`` where a status map chose one.
    var classMessage: String?
    /// How long the server asked to be left alone, when the error was made.
    var wait: Duration?
    /// How the request may be sent once more; nil for an error that is the answer.
    var repetition: Repetition?
    /// The request, boxed, because its type is known to a higher layer only.
    package var requestBox: (any Sendable)?

    /// Makes an error of your own, in an interceptor or a stub for instance.
    public init(_ code: Code, reason: String? = nil, underlying: (any Error)? = nil) {
        self.code = code
        self.reason = reason
        self.underlying = underlying
    }

    /// The `URLError` code underneath, when URLSession reported the failure.
    public var urlErrorCode: URLError.Code? {
        (underlying as? URLError)?.code
    }
}

extension NetworkError: LocalizedError, CustomStringConvertible {
    /// A short text to show to a person. It names no endpoint: "Please check your network connection.", "Not found
    /// (404)", "Too many requests (429), try again in 20 s", or the server's own words for ``Code/custom``.
    public var message: String {
        if code == .custom, let serverMessage { return serverMessage }
        // A failure that URLSession cannot name is the network's; one that somebody else threw need not be.
        if code == .unknown, urlErrorCode != nil { return NetworkError.Code.cannotConnect.message }
        if code == .invalidRequest { return code.title + (failureReason.map { ": \($0)" } ?? "") }
        if let statusWords, let status { return "\(statusWords) (\(status))\(waitText)" }
        return classMessage ?? code.message
    }

    /// The meaning of the status, unless the error has another text.
    private var statusWords: String? {
        guard classMessage == nil, code.isStatus, code != .custom, code != .other else { return nil }
        return status.map(StatusText.words)
    }

    private var waitText: String {
        wait.map { $0 > .zero ? ", try again in \($0.waitText)" : "" } ?? ""
    }

    /// What went wrong, for which endpoint and why, in one line.
    ///
    /// ``Code/custom`` gives the server's message alone, because callers show or compare it. The rest is in
    /// ``description``.
    public var errorDescription: String? {
        code == .custom ? message : description
    }

    /// The cause, as in ``reason``, secrets of URLs in it replaced.
    public var failureReason: String? {
        (reason ?? (underlying as? NetworkError)?.reason).map(Redaction.standard.pairs)
    }

    /// One line with everything but secrets: what, why, and for which request.
    public var description: String {
        let place = [requestLine, endPoint].compactMap { $0 }.joined(separator: ", ")
        return summary + (place.isEmpty ? "" : " (\(place))") + (attempts > 1 ? " after \(attempts) attempts" : "")
    }

    /// What went wrong and why, without the request: for a program that has said already what it was about to do.
    public var summary: String {
        var text = code.title
        if let status, code.isStatus { text = "HTTP \(status): \(statusWords.map { $0 + waitText } ?? message)" }
        func add(_ more: String) {
            let isSentence = text.last == "." || text.last == "!" || text.last == "?"
            // A key path or a media type keeps its letters: it is no word.
            let isWord = more.prefix { $0 != " " }.allSatisfy { $0.isLetter || $0 == "'" }
            let sentence = isWord ? more.prefix(1).uppercased() + more.dropFirst() : more
            text += isSentence ? " " + sentence : ": " + more
        }
        if let serverMessage, serverMessage != message { add("the server says \(serverMessage.quotedForMessage)") }
        if let reason {
            add(Redaction.standard.pairs(in: reason))
        } else if let underlying {
            add(Self.text(of: underlying))
        }
        return text
    }

    private var requestLine: String? {
        let method = method.map { $0.isToken ? $0.rawValue : $0.rawValue.quotedForMessage }
        guard let url else { return method }
        return [method, Redaction.standard.url(url.absoluteString)].compactMap { $0 }.joined(separator: " ")
    }

    /// What an error of any kind says, secrets of URLs in it replaced; of one of Swift's its name alone.
    package static func text(of error: any Error) -> String {
        if let error = error as? NetworkError { return error.description }
        if let text = (error as? any LocalizedError)?.errorDescription { return Redaction.standard.pairs(in: text) }
        if error is any CustomNSError { return Redaction.standard.pairs(in: error.localizedDescription) }
        // Of an error of Swift's `localizedDescription` says nothing, and its payload may be a secret.
        let mirror = Mirror(reflecting: error)
        guard mirror.displayStyle == .enum else {
            return type(of: error) is AnyClass
                ? Redaction.standard.pairs(in: error.localizedDescription) : String(describing: type(of: error))
        }
        return "\(type(of: error)).\(mirror.children.first?.label ?? String(describing: error))"
    }
}

extension NetworkError: Equatable {
    /// Compares what happened: code, reason, request, endpoint, response and attempts. The underlying error is not
    /// compared.
    public static func == (one: NetworkError, other: NetworkError) -> Bool {
        one.code == other.code && one.reason == other.reason && one.url == other.url && one.method == other.method
            && one.endPoint == other.endPoint && one.status == other.status && one.headers == other.headers
            && one.body == other.body && one.serverMessage == other.serverMessage && one.attempts == other.attempts
    }
}

extension NetworkError: CustomReflectable {
    /// Shows the redacted line only, so that `dump` prints no secret either.
    public var customMirror: Mirror {
        Mirror(self, children: ["description": description])
    }
}
