import Foundation
import SwitchboardJSON
import SwitchboardText

/// Adds parameters to every request, such as a token and a user's id: fixed ones, or those of a provider.
///
/// ```swift
/// CommonParameters(["client": "app", "user_id": 7])
/// CommonParameters(hosts: ["api.example.com"]) {
///     ["token": await .init(account.token ?? "")]
/// }
/// ```
///
/// They go into the query for GET, HEAD and DELETE and into the body for other methods, as with
/// `HTTPTask.requestParameters(_:bodyEncoding:)`. The argument `in:` overrides this, for example `.query` for a key
/// that the server expects there. A form gets more pairs, a JSON object gets more members, and a request without a body
/// gets one by `bodyEncoding`. Other bodies stay unchanged, and the parameters go into the query: a file, a multipart
/// or compressed body, or a JSON array. A parameter that the request already has there keeps its value. Nil values are
/// left out.
///
/// If the provider throws, the call fails and nothing is sent: a `NetworkError` is thrown unchanged, any other error
/// within `NetworkError.Code.invalidRequest`. Logs redact parameters with a secret's name, such as `token`; see
/// `Redaction`.
public struct CommonParameters: Interceptor, RequestAdapter {
    /// The part of the request that gets the parameters, whatever the method.
    public enum Place: Sendable, Hashable {
        /// The query.
        case query
        /// The body of every method that may have one, also DELETE. The query of the others, such as GET.
        case body
    }

    private let source: CommonSource<Parameters>
    private let place: Place?
    private let encoding: ParameterEncoding

    /// Creates an interceptor with fixed parameters.
    ///
    /// - Parameters:
    ///   - parameters: The parameters.
    ///   - place: The part of the request that gets them. Nil, the default, for the part that suits the method.
    ///   - hosts: The hosts whose requests get them, or origins such as `http://localhost:8080`, by the rules of
    ///     `CredentialOrigins.init(arrayLiteral:)`. Nil, the default, for the origins of the app's own endpoints; see
    ///     `CredentialOrigins.asked`.
    ///   - bodyEncoding: The encoding of a body for a request without one.
    public init(
        _ parameters: Parameters, in place: Place? = nil, hosts: [String]? = nil,
        bodyEncoding: ParameterEncoding = .jsonEncoding
    ) {
        source = CommonSource(hosts: hosts, fixed: parameters)
        self.place = place
        encoding = bodyEncoding
    }

    /// Creates an interceptor that requests the parameters from a provider; see ``init(_:in:hosts:bodyEncoding:)``. The
    /// provider runs for each request, several times concurrently, and may wait.
    public init(
        in place: Place? = nil, hosts: [String]? = nil, bodyEncoding: ParameterEncoding = .jsonEncoding,
        provider: @escaping @Sendable () async throws -> Parameters
    ) {
        source = CommonSource(hosts: hosts, provider: provider)
        self.place = place
        encoding = bodyEncoding
    }

    /// Adds the parameters to a request.
    public func adapt(_ request: inout NetworkRequest) async throws {
        guard source.isFor(request) else { return }
        let parameters = try await source.value("parameters")
        do {
            let (names, place) = try request.add(parameters, encoding, in: place)
            // A redirect would carry them to another origin.
            if place == "body", !names.isEmpty { request.route.bodyRules.append(source.isFor) }
        } catch {
            throw NetworkError.encoding(error)
        }
    }
}

extension NetworkRequest {
    /// Adds parameters to a part of the request, by default the part that suits the method. Parameters that the request
    /// already has there, and nil values, are left out.
    ///
    /// - Returns: The names of the added parameters, and the part.
    fileprivate mutating func add(
        _ parameters: Parameters, _ encoding: ParameterEncoding, in place: CommonParameters.Place?
    ) throws -> (names: [String], place: String) {
        let parameters = parameters.withoutNil
        let place = place ?? (method.prefersQuery ? .query : .body)
        if place == .body, method.allowsBody, let names = try addToBody(parameters, encoding) {
            return (names, "body")
        }
        return (try addToQuery(parameters, encoding.urlEncoder.form), "query")
    }

    /// Adds parameters to the query.
    ///
    /// - Returns: The names of the added parameters.
    @discardableResult
    package mutating func addToQuery(
        _ parameters: Parameters, _ encoder: URLEncodedFormEncoder
    ) throws(NetworkError) -> [String] {
        guard !parameters.isEmpty else { return [] }
        let query = query ?? ""
        let added = parameters.leavingOut(FormBody.decode(query).map(\.name))
        let text = try encoder.encode(added)
        guard !text.isEmpty else { return [] }
        self.query = query.isEmpty || query.hasSuffix("&") ? query + text : query + "&" + text
        return added.map(\.name)
    }

    /// Adds parameters to the body.
    ///
    /// - Returns: The names of the added parameters. Nil for a body that cannot take any.
    private mutating func addToBody(_ parameters: Parameters, _ encoding: ParameterEncoding) throws -> [String]? {
        guard !parameters.isEmpty else { return [] }
        guard !body.isEmpty else { return try makeBody(parameters, encoding) }
        guard !body.isStreamed, !allHeaders.contains("Content-Encoding") else { return nil }
        var encoded = self
        try encoded.encodeBody()
        let data = try encoded.body.encode()
        let type = (encoded.headers["Content-Type"] ?? "").mediaType
        let added: Parameters
        let longer: Data
        if type == "application/x-www-form-urlencoded" {
            added = parameters.leavingOut(FormBody.decode(data).map(\.name))
            let text = try ((encoding.bodyEncoder as? FormParameterEncoder)?.form ?? URLEncodedFormEncoder())
                .encode(added)
            longer = data + Data(((data.isEmpty || text.isEmpty ? "" : "&") + text).utf8)
        } else if type == "application/json" || type.hasSuffix("+json"), let names = JSONObjectText.names(in: data) {
            added = parameters.filter { !names.contains($0.name) }.asParameters
            let dates = (encoding.bodyEncoder as? JSONParameterEncoder)?.dateEncoding ?? .iso8601
            let members = try FastJSONEncoder(dateEncoding: dates).encode(added)
            longer = JSONObjectText.appending(members, to: data, isEmpty: names.isEmpty)
        } else {
            return nil
        }
        guard !added.isEmpty else { return [] }
        self = encoded
        body = DataBody(longer)
        if headers.contains("Content-Length") { headers["Content-Length"] = String(longer.count) }
        return added.map(\.name)
    }

    private mutating func makeBody(_ parameters: Parameters, _ encoding: ParameterEncoding) throws -> [String]? {
        guard !(encoding.bodyEncoder is URLParameterEncoder) else { return nil }
        var changed = self
        try encoding.bodyEncoder.encode(parameters, into: &changed)
        try changed.encodeBody()
        self = changed
        if headers.contains("Content-Length"), let length = body.length { headers["Content-Length"] = String(length) }
        return parameters.map(\.name)
    }
}

extension Parameters {
    /// The parameters with a value, because the others must not be sent.
    fileprivate var withoutNil: Parameters {
        filter { $0.value != .null && !$0.value.isAbsent }.asParameters
    }

    /// Returns the parameters with other names than these. `ids[]` and `ids[0]` count as `ids`.
    fileprivate func leavingOut(_ names: [String]) -> Parameters {
        let taken = Set(names.flatMap { [$0, String($0.prefix { $0 != "[" })] })
        return filter { !taken.contains($0.name) }.asParameters
    }
}

extension Array where Element == Parameters.Element {
    fileprivate var asParameters: Parameters { Parameters(self) }
}

/// Appends members to a JSON object as text. Existing members stay byte for byte.
private enum JSONObjectText {
    /// Returns the names of the members. Nil when the data is no object in UTF-8.
    static func names(in data: Data) -> Set<String>? {
        let start = data.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
        guard start.first == UInt8(ascii: "{"), start.dropFirst().first != 0,
            let object = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
        else { return nil }
        return Set(object.keys)
    }

    /// Returns the object with the members of another object.
    static func appending(_ members: Data, to object: Data, isEmpty: Bool) -> Data {
        guard members.count > 2, let end = object.lastIndex(of: UInt8(ascii: "}")) else { return object }
        let comma = isEmpty ? Data() : Data(",".utf8)
        return object[..<end] + comma + members.dropFirst().dropLast() + object[end...]
    }
}
