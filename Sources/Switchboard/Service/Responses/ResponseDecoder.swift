import SwitchboardJSON
import SwitchboardText
import Foundation

/// Decodes values from bodies. `FastJSONDecoder`, `JSONDecoder` and `PropertyListDecoder` conform to it.
public protocol ResponseDecoder: Sendable {
    /// Returns the decoded value. If it throws a `DecodingError`, the reason of the call's error contains the key path.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension FastJSONDecoder: ResponseDecoder {}
extension JSONDecoder: ResponseDecoder {}
extension PropertyListDecoder: ResponseDecoder {}

extension Data {
    /// Returns the bytes of a server for a decoder.
    ///
    /// The `JSONDecoder` of the open-source Foundation traps if a text ends with the bracket that opens its 513th
    /// level. A text that ends with an opening bracket is never JSON, so it gets a blank, and the decoder throws. Texts
    /// of up to 512 bytes have fewer levels.
    package func received(for decoder: any ResponseDecoder) -> Data {
        guard count > 512, last == .leftBracket || last == .leftBrace, decoder is JSONDecoder else { return self }
        return self + [.space]
    }
}

extension FastJSONDecoder {
    /// The default ``RequestOptions/decoder``. It reads dates in ISO 8601, with or without a fraction, as
    /// ``JSONBody`` writes them. It reads dates that are numbers as a plain `JSONDecoder` does. Change its properties
    /// for other formats:
    ///
    /// ```swift
    /// import SwitchboardJSON
    ///
    /// var decoder = FastJSONDecoder.ofResponses
    /// decoder.keyDecodingStrategy = .convertFromSnakeCase
    /// let manager = NetworkManager(decoder: decoder)
    /// ```
    public static var ofResponses: FastJSONDecoder {
        var decoder = FastJSONDecoder()
        decoder.dateDecodingStrategy = .iso8601OrDeferred
        return decoder
    }
}

extension ResponseDecoder {
    /// Whether the names of members are converted, so that those of a path must be too.
    fileprivate var convertsFromSnakeCase: Bool {
        if case .convertFromSnakeCase? = (self as? FastJSONDecoder)?.keyDecodingStrategy { return true }
        if case .convertFromSnakeCase? = (self as? JSONDecoder)?.keyDecodingStrategy { return true }
        return false
    }
}

/// A value inside an object, at ``NetworkResponse/nestedPath``.
struct NestedValue<Value: Decodable>: Decodable {
    let value: Value

    init(from decoder: any Decoder) throws {
        let keys = NetworkResponse.nestedPath.map { JSONPathKey(stringValue: $0) }
        guard let last = keys.last else {
            value = try decoder.singleValueContainer().decode(Value.self)
            return
        }
        var container = try decoder.container(keyedBy: JSONPathKey.self)
        for key in keys.dropLast() { container = try container.nestedContainer(keyedBy: JSONPathKey.self, forKey: key) }
        if !container.contains(last), let missing = Value.ifMissing {
            value = missing
        } else {
            value = try container.decode(Value.self, forKey: last)
        }
    }
}

extension Decodable {
    /// Nil as a value of this type, if it is an optional. Nil for any other type.
    fileprivate static var ifMissing: Self? {
        (Self.self as? any OptionalValue.Type)?.init(nilLiteral: ()) as? Self
    }
}

extension RequestOptions {
    /// The decoder for the body of a success, and for an error's body. Default `FastJSONDecoder.ofResponses`.
    public var decoder: any ResponseDecoder {
        get { self[DecoderOption.self] }
        set { self[DecoderOption.self] = newValue }
    }
}

private enum DecoderOption: RequestOption {
    static let defaultValue: any ResponseDecoder = FastJSONDecoder.ofResponses
}

extension NetworkResponse {
    /// Decodes the body.
    ///
    /// `Data` is the unchanged body, and `String` is its text. An empty body decodes to ``EmptyResponse``, or to nil
    /// for an optional. Without a decoder, the ``RequestOptions/decoder`` of the request is used.
    ///
    /// - Throws: ``NetworkError/Code/noData`` when the body is empty and the type needs one, or when the options stream
    ///   it, ``NetworkError/Code/decodingFailed`` with key path, expected type and a short redacted part of the body,
    ///   ``NetworkError/Code/unexpectedContentType`` when the body has a different media type.
    public func decode<Value: Decodable>(
        _ type: Value.Type, decoder: (any ResponseDecoder)? = nil
    ) throws(NetworkError) -> Value {
        if body.isEmpty, let value: Value = try valueOfEmptyBody() { return value }
        if let value = body as? Value { return value }
        if type == String.self || type == String?.self, let value = text as? Value { return value }
        if let value = EmptyResponse() as? Value { return value }
        return try decoded(type) {
            let decoder = decoder ?? options.decoder
            return try decoder.decode(type, from: body.received(for: decoder))
        }
    }

    /// Decodes the value at a path of names in the body's object: `decode([Film].self, at: ["page", "results"])`. The
    /// decoder reads every type: `String` is a JSON string, and `Data` is in the decoder's format. Otherwise the same
    /// as ``decode(_:decoder:)``. Names are those of the JSON, also with `.convertFromSnakeCase`. With a `.custom`
    /// key strategy, they are those that it returns. An object without the last name decodes to nil for an optional.
    public func decode<Value: Decodable>(
        _ type: Value.Type, at path: [String], decoder: (any ResponseDecoder)? = nil
    ) throws(NetworkError) -> Value {
        if body.isEmpty, let value: Value = try valueOfEmptyBody() { return value }
        return try decoded(type, at: path) {
            let decoder = decoder ?? options.decoder
            let names = decoder.convertsFromSnakeCase ? path.map(\.camelCased) : path
            return try NetworkResponse.$nestedPath.withValue(names) {
                try decoder.decode(NestedValue<Value>.self, from: body.received(for: decoder)).value
            }
        }
    }

    /// Returns nil as a value of an optional type. Throws if the body has yet to arrive.
    private func valueOfEmptyBody<Value: Decodable>() throws(NetworkError) -> Value? {
        guard stream == nil || statusCode == 204 || EmptyResponse() is Value else {
            throw failure(.noData, "the options stream the response: read its bytes, or set streamsResponse to false")
        }
        return Value.ifMissing
    }

    /// Decodes a body that is not empty, in the environment of the call.
    @inline(__always)
    private func decoded<Value>(
        _ type: Value.Type, at path: [String] = [], _ decode: () throws -> Value
    ) throws(NetworkError) -> Value {
        guard !body.isEmpty else {
            throw failure(.noData, "expected \(TypeText.text(of: type)), but the \(statusCode) response has no body")
        }
        do {
            return try environment.run(decode)
        } catch {
            // The type describes the value at the path, not the whole body.
            throw failure(for: error, as: path.isEmpty ? type : nil)
        }
    }

    private func failure(for error: any Error, as type: Any.Type?) -> NetworkError {
        let reason = DecodingFailure.reason(error, in: body, as: type)
        guard let mediaType = headers.contentType?.prefix(while: { $0 != ";" }).lowercased(), !mediaType.isEmpty,
            !mediaType.contains("json"),
            mediaType.contains("html")
                ? !DecodingFailure.isMismatch(error)
                : DecodingFailure.isInvalidJSON(error) && body.first(where: { $0 > 0x20 })?.startsJSON != true
        else { return failure(.decodingFailed, reason, error) }
        return failure(.unexpectedContentType, "the response is \(mediaType.shortForMessage): \(reason)", error)
    }

    private func failure(_ code: NetworkError.Code, _ reason: String, _ underlying: (any Error)? = nil) -> NetworkError
    {
        NetworkError(code, reason: reason, underlying: underlying).with(self)
    }
}

extension DecodingFailure {
    /// Returns the description of an error that a decoder or a type threw for a body.
    package static func reason(
        _ error: any Error, in body: Data, as type: Any.Type?, called name: String = "the body"
    ) -> String {
        // A type may decode a text within the body, whose positions are not those of the body.
        guard isInvalidJSON(error), (try? JSONValues(body)) != nil else {
            return describe(error, in: body, as: type, called: name)
        }
        return "within a value of \(name): \(cause(of: error))"
    }
}

extension NetworkResponse {
    /// The names that lead to the value to decode.
    @TaskLocal static var nestedPath: [String] = []
}

extension NetworkError {
    /// Decodes the server's error body. The decoder reads every type, also `String` and `Data`.
    ///
    /// - Parameters:
    ///   - type: The type of the server's error.
    ///   - decoder: Decodes the body. Nil, the default, selects the ``RequestOptions/decoder`` of the request, which
    ///     is usually the manager's.
    /// - Returns: The server's error.
    /// - Throws: ``Code/noData`` when no body arrived or it is empty, ``Code/decodingFailed`` with the key path when it
    ///   has another shape. Both keep the request, the response and the history of this error.
    public func decode<Value: Decodable>(
        _ type: Value.Type, decoder: (any ResponseDecoder)? = nil
    ) throws(NetworkError) -> Value {
        guard let body else { throw failure(.noData, "no response arrived that could be decoded: \(code.title)") }
        guard !body.isEmpty else { throw failure(.noData, "the error response has no body") }
        let options = request?.options ?? RequestOptions()
        do {
            let decoder = decoder ?? options.decoder
            return try (request?.callEnvironment).run { try decoder.decode(type, from: body.received(for: decoder)) }
        } catch {
            let subject = statusCode.map { "the body of the \($0)" } ?? "the error's body"
            let reason = DecodingFailure.reason(error, in: body, as: type)
            throw failure(.decodingFailed, "\(subject) is no \(TypeText.text(of: type)): \(reason)", error)
        }
    }

    private func failure(_ code: Code, _ reason: String, _ underlying: (any Error)? = nil) -> NetworkError {
        var error = NetworkError(code, reason: reason, underlying: underlying)
        (error.url, error.method, error.endPointName, error.request) = (url, method, endPointName, request)
        (error.statusCode, error.headers, error.body, error.attempts) = (statusCode, headers, body, attempts)
        return error
    }
}
