import Foundation
import SwitchboardJSON
import SwitchboardText

/// Adds parameters to every request, such as a token and a user's id: fixed ones, or those of a provider.
///
/// ```swift
/// CommonParameters(["client": "app", "user_id": 7])
/// CommonParameters(origins: ["api.example.com"]) {
///     ["token": await .init(account.token ?? "")]
/// }
/// ```
///
/// They go into the query for GET, HEAD and DELETE and into the body for other methods, as with
/// `HTTPTask.requestParameters(_:bodyEncoding:)`. The argument `in:` overrides this, for example `.query` for a key
/// that the server expects there. A form gets more pairs, a JSON object gets more members, and a request without a body
/// gets one by `bodyEncoding`. Other bodies stay unchanged, and the parameters go into the query: a file, a multipart
/// or compressed body, a JSON array, or the empty body of an upload in pieces. A parameter that the request already has
/// there keeps its value. Nil values are left out, and for TRACE also parameters with a secret's name.
///
/// If the provider throws, the call fails and nothing is sent: a `NetworkError` is thrown unchanged, any other error
/// within `NetworkError.Code.invalidRequest`. Logs redact parameters with a secret's name, such as `token`; see
/// `Redaction`.
public struct CommonParameters: Interceptor, RequestAdapter {
    /// The part of the request that gets the parameters, whatever the method.
    public enum Location: Sendable, Hashable {
        /// The query.
        case query
        /// The body of every method that may have one, also DELETE. The query of the others, such as GET.
        case body
    }

    private let source: CommonSource<Parameters>
    private let location: Location?
    private let encoding: ParameterEncoding

    /// Creates an interceptor with fixed parameters.
    ///
    /// - Parameters:
    ///   - parameters: The parameters.
    ///   - location: The part of the request that gets them. Nil, the default, selects the part that suits the method.
    ///   - origins: The origins whose requests get them.
    ///   - bodyEncoding: The encoding of a body for a request without one.
    public init(
        _ parameters: Parameters, in location: Location? = nil, origins: CredentialOrigins = .endPoints,
        bodyEncoding: ParameterEncoding = .jsonEncoding
    ) {
        source = CommonSource(origins: origins, fixed: parameters)
        self.location = location
        encoding = bodyEncoding
    }

    /// Creates an interceptor that requests the parameters from a provider; see ``init(_:in:origins:bodyEncoding:)``.
    /// The provider runs for each request, several times concurrently, and may wait.
    public init(
        in location: Location? = nil, origins: CredentialOrigins = .endPoints,
        bodyEncoding: ParameterEncoding = .jsonEncoding,
        provider: @escaping @Sendable () async throws -> Parameters
    ) {
        source = CommonSource(origins: origins, of: "parameters", provider)
        self.location = location
        encoding = bodyEncoding
    }

    /// Adds the parameters to a request.
    public func adapt(_ request: inout NetworkRequest) async throws {
        guard source.origins.allow(request) else { return }
        var parameters = try await source.value()
        if request.method == .trace {
            parameters = Parameters(parameters.filter { !Redaction.standard.isSecret(parameter: $0.name) })
        }
        do {
            let changesBody = try request.add(parameters, encoding, in: location)
            // A redirect would send them to another origin.
            if changesBody { request.route.bodyRules.append(source.origins.allow) }
        } catch {
            throw NetworkError.encoding(error, by: "\(type(of: encoding.bodyEncoder))")
        }
    }
}

extension NetworkRequest {
    /// Adds parameters to a part of the request, by default the part that suits the method. Omits nil values, and
    /// parameters that the request already has there.
    ///
    /// - Returns: Whether it changed the body.
    fileprivate mutating func add(
        _ parameters: Parameters, _ encoding: ParameterEncoding, in location: CommonParameters.Location?
    ) throws -> Bool {
        let parameters = parameters.withoutNil
        let location = location ?? (method.prefersQuery ? .query : .body)
        if location == .body, method.allowsBody, let changesBody = try addToBody(parameters, encoding) {
            return changesBody
        }
        try addToQuery(parameters, encoding.urlEncoder.form)
        return false
    }

    /// Adds parameters to the query, except those that it already has.
    package mutating func addToQuery(_ parameters: Parameters, _ encoder: URLEncodedFormEncoder) throws(NetworkError) {
        guard !parameters.isEmpty else { return }
        let text = try encoder.encode(parameters.excluding(FormBody.decode(query ?? ""), by: encoder))
        if !text.isEmpty { appendToQuery(text) }
    }

    mutating func appendToQuery(_ text: String) {
        let query = query ?? ""
        self.query = query + (query.isEmpty || query.hasSuffix("&") ? "" : "&") + text
    }

    /// Adds parameters to the body, except those that it already has.
    ///
    /// - Returns: Whether it added any. Nil for a body that accepts no parameters.
    private mutating func addToBody(_ parameters: Parameters, _ encoding: ParameterEncoding) throws -> Bool? {
        guard !parameters.isEmpty else { return false }
        guard !body.isEmpty else { return options.keepsEmptyBody ? nil : try makeBody(parameters, encoding) }
        guard !body.isStreamed, !allHeaders.contains("Content-Encoding") else { return nil }
        var encoded = self
        try encoded.encodeBody()
        let data = try encoded.body.encode()
        let type = (encoded.headers["Content-Type"] ?? "").mediaType
        let added: Parameters
        let extended: Data
        if type == "application/x-www-form-urlencoded" {
            let encoder = (encoding.bodyEncoder as? FormParameterEncoder)?.form ?? URLEncodedFormEncoder()
            added = parameters.excluding(FormBody.decode(data), by: encoder)
            let text = try encoder.encode(added)
            extended = data + Data(((data.isEmpty || text.isEmpty ? "" : "&") + text).utf8)
        } else if type == "application/json" || type.hasSuffix("+json"), let names = JSONObjectText.names(in: data) {
            added = Parameters(parameters.filter { !names.contains($0.name) })
            let dates = (encoding.bodyEncoder as? JSONParameterEncoder)?.dateEncoding ?? .iso8601
            let members = try FastJSONEncoder(dateEncoding: dates).encode(added)
            extended = JSONObjectText.appending(members, to: data, isEmpty: names.isEmpty)
        } else {
            return nil
        }
        guard !added.isEmpty else { return false }
        self = encoded
        body = DataBody(extended)
        if headers.contains("Content-Length") { headers["Content-Length"] = String(extended.count) }
        return true
    }

    private mutating func makeBody(_ parameters: Parameters, _ encoding: ParameterEncoding) throws -> Bool? {
        guard !(encoding.bodyEncoder is URLParameterEncoder) else { return nil }
        var changed = self
        try encoding.bodyEncoder.encode(parameters, into: &changed)
        try changed.encodeBody()
        self = changed
        if headers.contains("Content-Length"), let length = body.length { headers["Content-Length"] = String(length) }
        return true
    }
}

extension RequestOptions {
    /// Whether ``CommonParameters`` make no body for a request without one. Default false.
    package var keepsEmptyBody: Bool {
        get { self[KeepsEmptyBodyOption.self] }
        set { self[KeepsEmptyBodyOption.self] = newValue }
    }
}

private enum KeepsEmptyBodyOption: RequestOption { static let defaultValue = false }

extension Parameters {
    fileprivate var withoutNil: Parameters {
        Parameters(filter { $0.value != .null && $0.value != .absent })
    }

    /// Returns the parameters except those with the names of these items, before or after an encoder's conversion, or
    /// with a name within their value that the encoder writes. `ids[]` and `ids[0]` count as `ids`.
    fileprivate func excluding(_ items: [URLQueryItem], by encoder: URLEncodedFormEncoder) -> Parameters {
        guard !items.isEmpty else { return self }
        let excluded = Set(items.flatMap { [$0.name, String($0.name.prefix { $0 != "[" })] })
        let kept = filter { parameter in
            let text = (try? encoder.encode([parameter.name: parameter.value] as Parameters)) ?? ""
            let written = FormBody.decode(text).map(\.name)
            return excluded.isDisjoint(with: written + [parameter.name, encoder.keyEncoding.encode(parameter.name)])
        }
        return Parameters(kept)
    }
}

/// Appends members to a JSON object as text. Existing members stay byte for byte.
private enum JSONObjectText {
    /// Returns the names of the members. Nil when the data is not an object in UTF-8.
    static func names(in data: Data) -> Set<String>? {
        let start = data.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
        guard start.first == .leftBrace, start.dropFirst().first != 0,
            let object = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
        else { return nil }
        return Set(object.keys)
    }

    static func appending(_ members: Data, to object: Data, isEmpty: Bool) -> Data {
        guard members.count > 2, let end = object.lastIndex(of: .rightBrace) else { return object }
        let comma = isEmpty ? Data() : Data(",".utf8)
        return object[..<end] + comma + members.dropFirst().dropLast() + object[end...]
    }
}
