import Foundation

/// What makes a value, or an error, of a response.
public struct ResponseHandling: Sendable {
    /// The statuses taken for success. Default 200 to 299.
    public var acceptedStatuses: AcceptedStatuses
    /// The code and message for the others. Default ``StatusMap/standard``.
    public var statusMap: StatusMap
    /// The keys under which a server explains an error in JSON; the first one with a text counts. They are looked for at
    /// the top of an object and inside its `error`. Their value is a text, an object with a `message`, `msg` or
    /// `detail`, or a list of these; under `errors` also an object with texts by field, `{"email":["is taken"]}`.
    /// Default `message`, `status_message`, `error_description`, `detail`, `errors`, `title`, `error`.
    ///
    /// Errors in XML have their own place: the `Message` of S3 and its kin, the `detail` or `title` of [RFC
    /// 9457](https://www.rfc-editor.org/rfc/rfc9457).
    public var messageKeys: [String]
    /// Decodes the body of a success. Default a `JSONDecoder` that also reads ISO 8601 dates, as ``JSONBody`` writes
    /// them.
    public var decoder: any ResponseDecoder

    /// Makes a handling.
    public init(
        acceptedStatuses: AcceptedStatuses = .success, statusMap: StatusMap = .standard,
        messageKeys: [String] = [
            "message", "status_message", "error_description", "detail", "errors", "title", "error",
        ],
        decoder: (any ResponseDecoder)? = nil
    ) {
        self.acceptedStatuses = acceptedStatuses
        self.statusMap = statusMap
        self.messageKeys = messageKeys
        self.decoder = decoder ?? JSONDecoder.ofResponses
    }

    /// Throws for a status that is not accepted.
    ///
    /// - Throws: ``NetworkError`` with the code of the ``statusMap``, the status, headers and body of the response, and
    ///   what the server said about it.
    public func check(_ response: NetworkResponse) throws(NetworkError) {
        let result = response.environment.run { Result { () throws(NetworkError) in try judge(response) } }
        try result.get()
    }

    private func judge(_ response: NetworkResponse) throws(NetworkError) {
        guard !acceptedStatuses.contains(response.statusCode) else { return }
        let serverMessage = ServerMessage(keys: messageKeys).text(in: response.body)
        let code = statusMap.code(response.statusCode, serverMessage != nil)
        var error = NetworkError(code).with(response)
        error.serverMessage = serverMessage
        if serverMessage == nil, !response.body.isEmpty, !response.body.contains(0) {
            error.reason = "the body begins \(DecodingFailure.snippet(of: response.body))"
        }
        if statusMap.isPlain {
            error.wait = response.retryAfter()
        } else if code != .custom, code != .other {
            error.classMessage = statusMap.message(for: response.statusCode).rawValue
        }
        throw response.attribute(error)
    }
}

extension RequestOptions {
    /// What makes a value, or an error, of the response.
    public var responseHandling: ResponseHandling {
        get { self[ResponseHandlingOption.self] }
        set {
            self[ResponseHandlingOption.self] = newValue
            isDownloadAccepted = newValue.acceptedStatuses.contains
        }
    }
}

private enum ResponseHandlingOption: RequestOption {
    static let defaultValue = ResponseHandling()
}

extension NetworkResponse {
    /// The handling that the request asked for.
    package var handling: ResponseHandling {
        request?.options.responseHandling ?? ResponseHandlingOption.defaultValue
    }

    /// The environment for the closures of the app that judge and decode it.
    package var environment: CallEnvironment? { request?.callEnvironment }

    /// The error with the request noted on it, and how often that was sent.
    package func attribute(_ error: NetworkError) -> NetworkError {
        var error = request.map(error.attributed) ?? error
        error.attempts = attempts
        return error
    }
}
