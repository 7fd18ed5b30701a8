import Foundation

/// What makes a value, or an error, of a response.
public struct ResponseHandling: Sendable {
    /// The statuses taken for success. Default 200 to 299.
    public var acceptedStatuses: AcceptedStatuses
    /// The code and message for the others. Default ``StatusMap/standard``.
    public var statusMap: StatusMap
    /// The keys under which a server explains an error, the first one found counts. They are looked for at the top of a
    /// JSON object and inside its `error`. Default `message`, `status_message`, `error_description`, `detail`, `title`,
    /// `error`.
    public var messageKeys: [String]
    /// Decodes the body of a success. Default a `JSONDecoder` that also reads ISO 8601 dates, as ``JSONBody`` writes
    /// them.
    public var decoder: any ResponseDecoder

    /// Makes a handling.
    public init(
        acceptedStatuses: AcceptedStatuses = .success, statusMap: StatusMap = .standard,
        messageKeys: [String] = ["message", "status_message", "error_description", "detail", "title", "error"],
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
        guard !acceptedStatuses.contains(response.statusCode) else { return }
        let serverMessage = serverMessage(in: response.body).map(Redaction.standard.pairs)
        let code = statusMap.code(response.statusCode, serverMessage != nil)
        var error = NetworkError(code).with(response)
        error.serverMessage = serverMessage
        if serverMessage == nil, !response.body.isEmpty, !response.body.contains(0) {
            error.reason = "the body begins \(DecodingFailure.snippet(of: response.body))"
        }
        if code != .custom, code != .other { error.classMessage = statusMap.message(for: response.statusCode).rawValue }
        throw response.attribute(error)
    }

    private func serverMessage(in body: Data) -> String? {
        // A large body is no explanation, and one that does not begin as an object has no keys.
        guard body.count <= 65_536, body.first(where: { $0 > 0x20 }) == UInt8(ascii: "{"),
            let object = try? JSONSerialization.jsonObject(with: body) as? [String: Any]
        else { return nil }
        let inner = object["error"] as? [String: Any] ?? [:]
        return messageKeys.lazy.compactMap { object[$0] as? String ?? inner[$0] as? String }.first { !$0.isEmpty }
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
    var handling: ResponseHandling {
        request?.options.responseHandling ?? ResponseHandlingOption.defaultValue
    }

    /// The error with the request noted on it, and how often that was sent.
    func attribute(_ error: NetworkError) -> NetworkError {
        var error = request.map(error.attributed) ?? error
        error.attempts = attempts
        return error
    }
}
