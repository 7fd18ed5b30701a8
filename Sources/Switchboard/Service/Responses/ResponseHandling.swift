import SwitchboardJSON
import SwitchboardText
import Foundation

/// Checks responses and decodes their bodies.
public struct ResponseHandling: Sendable {
    /// The statuses that count as success. Default 200 to 299.
    public var acceptedStatuses: AcceptedStatuses
    /// The code and message for other statuses. Default ``StatusMap/standard``.
    public var statusMap: StatusMap
    /// The keys of a server's error message in JSON. The first key with a text is used. Keys are read at the top of an
    /// object and inside its `error`. Their value is a text, an object with a `message`, `msg` or `detail`, or a list
    /// of these. Under `errors` it may also be an object with texts by field, `{"email":["is taken"]}`. Default
    /// `message`, `status_message`, `error_description`, `detail`, `errors`, `title`, `error`.
    ///
    /// They do not apply to errors in XML. There the message is the `Message` of S3 and similar services, or the
    /// `detail` or `title` of [RFC 9457](https://www.rfc-editor.org/rfc/rfc9457). A body of the type `text/plain` is
    /// the message itself.
    public var messageKeys: [String]
    /// The decoder for the body of a success. Default a `FastJSONDecoder` that also reads ISO 8601 dates, as
    /// ``JSONBody`` writes them.
    public var decoder: any ResponseDecoder

    /// Creates a response handling.
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
        self.decoder = decoder ?? FastJSONDecoder.ofResponses
    }

    /// Throws if the status of a response is not accepted.
    ///
    /// - Throws: ``NetworkError`` with the code of the ``statusMap``, the status, headers and body of the response, and
    ///   the server's message.
    public func check(_ response: NetworkResponse) throws(NetworkError) {
        let result = response.environment.run { Result { () throws(NetworkError) in try checkStatus(of: response) } }
        try result.get()
    }

    private func checkStatus(of response: NetworkResponse) throws(NetworkError) {
        guard !acceptedStatuses.contains(response.statusCode) else { return }
        let messages = ServerMessage(keys: messageKeys)
        let structured = messages.text(in: response.body)
        let serverMessage = structured ?? messages.plainText(in: response.body, as: response.headers["Content-Type"])
        let code = statusMap.code(response.statusCode, structured != nil)
        var error = NetworkError(code).with(response)
        error.serverMessage = serverMessage
        if serverMessage == nil, !response.body.isEmpty, !response.body.contains(0) {
            error.reason =
                messages.title(of: response.body).map { "the server sent a page with the title \($0.quotedForMessage)" }
                ?? "the body begins \(DecodingFailure.snippet(of: response.body))"
        }
        error.wait = response.retryAfter()
        error.statusMapMessage = statusMap.message?(response.statusCode)
        throw error
    }
}

extension RequestOptions {
    /// The checks and the decoding of the response.
    public var responseHandling: ResponseHandling {
        get { self[ResponseHandlingOption.self] }
        set { self[ResponseHandlingOption.self] = newValue }
    }
}

private enum ResponseHandlingOption: RequestOption {
    static let defaultValue = ResponseHandling()
}

extension NetworkResponse {
    /// The response handling of the request.
    package var handling: ResponseHandling {
        request?.options.responseHandling ?? ResponseHandlingOption.defaultValue
    }

    /// The environment in which the app's closures check and decode the response.
    package var environment: CallEnvironment? { request?.callEnvironment }

    /// Decodes the body.
    ///
    /// `Data` is the unchanged body, and `String` is its text. An empty body decodes to ``EmptyResponse``, or to nil
    /// for an optional. Without a decoder, that of the request's ``ResponseHandling`` is used.
    ///
    /// - Throws: ``NetworkError/Code/noData`` when the body is empty and the type needs one,
    ///   ``NetworkError/Code/decodingFailed`` with key path, expected type and a short redacted part of the body,
    ///   ``NetworkError/Code/unexpectedContentType`` when the body has a different media type.
    public func decode<Value: Decodable>(
        _ type: Value.Type, decoder: (any ResponseDecoder)? = nil
    ) throws(NetworkError) -> Value {
        if body.isEmpty, let empty = type as? any ExpressibleByNilLiteral.Type,
            let value = empty.init(nilLiteral: ()) as? Value
        {
            return value
        }
        if let value = body as? Value { return value }
        if type == String.self || type == String?.self, let value = text as? Value { return value }
        if let value = EmptyResponse() as? Value { return value }
        return try decoded(type) { try (decoder ?? handling.decoder).decode(type, from: body) }
    }

    /// Decodes the value at a path of names in the body's object: `decode([Film].self, at: ["page", "results"])`.
    /// Otherwise the same as ``decode(_:decoder:)``. Names are those that the decoder's key strategy returns.
    public func decode<Value: Decodable>(
        _ type: Value.Type, at path: [String], decoder: (any ResponseDecoder)? = nil
    ) throws(NetworkError) -> Value {
        try decoded(type) {
            try NetworkResponse.$nestedPath.withValue(path) {
                try (decoder ?? handling.decoder).decode(NestedValue<Value>.self, from: body).value
            }
        }
    }

    /// Decodes a body that is not empty, in the environment of the call.
    @inline(__always)
    private func decoded<Value>(_ type: Value.Type, _ decode: () throws -> Value) throws(NetworkError) -> Value {
        guard !body.isEmpty else {
            throw failure(.noData, "expected \(TypeText.text(of: type)), but the \(statusCode) response has no body")
        }
        do {
            return try environment.run(decode)
        } catch {
            throw failure(for: error, as: type)
        }
    }

    private func failure(for error: any Error, as type: Any.Type) -> NetworkError {
        let reason = DecodingFailure.describe(error, in: body, as: type)
        guard let mediaType = headers["Content-Type"]?.prefix(while: { $0 != ";" }).lowercased(), !mediaType.isEmpty,
            !mediaType.contains("json"), !mediaType.contains("plist"), mediaType.contains("html") || !canBeJSON
        else { return failure(.decodingFailed, reason, error) }
        return failure(.unexpectedContentType, "the response is \(mediaType): \(reason)", error)
    }

    /// Whether the first character of the body may begin JSON.
    private var canBeJSON: Bool {
        body.first { $0 > 0x20 }.map { "{[\"-0123456789tfn".utf8.contains($0) } ?? false
    }

    private func failure(_ code: NetworkError.Code, _ reason: String, _ underlying: (any Error)? = nil) -> NetworkError
    {
        NetworkError(code, reason: reason, underlying: underlying).with(self)
    }
}

/// The statuses that count as success.
public struct AcceptedStatuses: Sendable {
    private let contains: @Sendable (Int) -> Bool

    /// Creates the set of statuses for which a closure returns true.
    public init(where contains: @escaping @Sendable (Int) -> Bool) {
        self.contains = contains
    }

    /// 200 to 299. The default.
    public static let success = AcceptedStatuses { (200..<300).contains($0) }
    /// All statuses, so that none is an error.
    public static let any = AcceptedStatuses { _ in true }

    /// Returns the statuses in a range: `.range(200..<400)`.
    public static func range(_ range: Range<Int>) -> AcceptedStatuses {
        AcceptedStatuses { range.contains($0) }
    }

    /// Returns 200 to 299 and more statuses: `.success(and: 304)`.
    public static func success(and others: Int...) -> AcceptedStatuses {
        AcceptedStatuses { (200..<300).contains($0) || others.contains($0) }
    }

    /// Returns whether a status counts as success.
    public func contains(_ status: Int) -> Bool {
        contains(status)
    }
}
