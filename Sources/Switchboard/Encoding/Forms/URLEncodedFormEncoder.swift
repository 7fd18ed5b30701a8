import Foundation
import SwitchboardText

/// Encodes values as `application/x-www-form-urlencoded` text, for queries and for form bodies.
///
/// ```swift
/// struct Search: Encodable { let text: String, tags: [String] }
///
/// let encoder = URLEncodedFormEncoder(
///     arrayEncoding: .noBrackets, keyEncoding: .convertToSnakeCase)
/// // text=a%20b&tags=x&tags=y
/// try encoder.encode(Search(text: "a b", tags: ["x", "y"]))
/// ```
///
/// The strategies have the names known from Alamofire. Four defaults differ, and each matches what servers accept
/// without configuration. Members keep their declared order, and the members of a dictionary are sorted. A Boolean is
/// `true` or `false`. A date is ISO 8601. In names and values, only the *unreserved* characters of [RFC 3986
/// §2.3](https://www.rfc-editor.org/rfc/rfc3986#section-2.3) stay unescaped.
public struct URLEncodedFormEncoder: Sendable {
    /// Whether the members of each object are sorted by the names that ``keyEncoding`` writes. By default they keep the
    /// order in which the value encodes them.
    public var alphabetizeKeyValuePairs: Bool
    /// The naming of array elements. Default ``ArrayEncoding/brackets``.
    public var arrayEncoding: ArrayEncoding
    /// The format of Booleans. Default ``BoolEncoding/literal``.
    public var boolEncoding: BoolEncoding
    /// The format of `Data`. Default ``DataEncoding/base64``.
    public var dataEncoding: DataEncoding
    /// The format of dates. Default ``DateEncoding/iso8601``.
    public var dateEncoding: DateEncoding
    /// The change made to names. Default ``KeyEncoding/useDefaultKeys``.
    public var keyEncoding: KeyEncoding
    /// The way to join the names of nested objects. Default ``KeyPathEncoding/brackets``.
    public var keyPathEncoding: KeyPathEncoding
    /// The treatment of nil values. Default ``NilEncoding/dropKey``. Empty arrays and objects are always omitted.
    public var nilEncoding: NilEncoding
    /// The treatment of spaces. Default ``SpaceEncoding/percentEscaped``.
    public var spaceEncoding: SpaceEncoding
    private var allowed: ASCIISet

    /// Creates an encoder.
    ///
    /// `allowedCharacters` are the ASCII characters to leave unescaped. Nil means the unreserved characters of RFC
    /// 3986. `%`, `&`, `=`, `+`, `#` and control characters are always escaped, because they would change the meaning
    /// of the text.
    public init(
        alphabetizeKeyValuePairs: Bool = false, arrayEncoding: ArrayEncoding = .brackets,
        boolEncoding: BoolEncoding = .literal,
        dataEncoding: DataEncoding = .base64, dateEncoding: DateEncoding = .iso8601,
        keyEncoding: KeyEncoding = .useDefaultKeys,
        keyPathEncoding: KeyPathEncoding = .brackets, nilEncoding: NilEncoding = .dropKey,
        spaceEncoding: SpaceEncoding = .percentEscaped, allowedCharacters: CharacterSet? = nil
    ) {
        self.alphabetizeKeyValuePairs = alphabetizeKeyValuePairs
        self.arrayEncoding = arrayEncoding
        self.boolEncoding = boolEncoding
        self.dataEncoding = dataEncoding
        self.dateEncoding = dateEncoding
        self.keyEncoding = keyEncoding
        self.keyPathEncoding = keyPathEncoding
        self.nilEncoding = nilEncoding
        self.spaceEncoding = spaceEncoding
        allowed = allowedCharacters.map(ASCIISet.init(escapable:)) ?? .unreserved
    }

    /// Encodes an object: a struct, a class or a dictionary.
    ///
    /// - Throws: ``NetworkError/Code/encodingFailed`` when `value` is a scalar or an array, which have no names, when
    ///   it contains a number that is not finite, or when its `encode(to:)` throws.
    public func encode(_ value: some Encodable) throws(NetworkError) -> String {
        try encode(Parameters(encoding: value, for: "a form requires"))
    }

    /// Encodes parameters in their order, with all repeated names.
    ///
    /// - Throws: ``NetworkError/Code/encodingFailed``, which names the parameter whose value cannot be written.
    public func encode(_ parameters: Parameters) throws(NetworkError) -> String {
        var buffer: [UInt8] = []
        try append(parameters, to: &buffer)
        return String(decoding: buffer, as: UTF8.self)
    }

    /// Encodes pairs in their order. A nil value is written as the name alone, an empty value as the name and `=`.
    public func encode(_ items: [URLQueryItem]) -> String {
        var buffer: [UInt8] = []
        for item in items {
            appendName(item.name, to: &buffer)
            if let value = item.value { appendValue(value, to: &buffer) }
        }
        return String(decoding: buffer, as: UTF8.self)
    }
}

// MARK: - Pairs to bytes

extension URLEncodedFormEncoder {
    /// The encoder for queries. It escapes every character that a URL cannot contain, even an allowed one: Foundation
    /// would escape that character and every percent sign.
    var escapingForURLs: URLEncodedFormEncoder {
        var encoder = self
        encoder.allowed = allowed.intersection(.query)
        return encoder
    }

    /// Appends `a=1&b=2`, or nothing when every value is dropped.
    func append(_ parameters: Parameters, to buffer: inout [UInt8]) throws(NetworkError) {
        buffer.reserveCapacity(buffer.count + parameters.count * 32)
        do {
            for (name, value) in named(parameters) { try append(value, named: name, to: &buffer) }
        } catch {
            throw NetworkError.encoding(error)
        }
    }

    /// Returns the members with their names as they are written, sorted by them if required.
    private func named(_ members: Parameters) -> [Parameters.Element] {
        var elements = members.elements
        if !keyEncoding.isIdentity { elements = elements.map { (keyEncoding.encode($0.name), $0.value) } }
        return alphabetizeKeyValuePairs ? elements.sorted(byName: \.name) : elements
    }

    // Untyped, because a typed throw needs space in the stack frame of each level.
    private func append(
        _ value: ParameterValue, named name: String, depth: Int = 0, to buffer: inout [UInt8]
    ) throws {
        guard depth <= EncodingNode.maximumDepth + 1 else { throw EncodingNode.tooDeep }
        switch value {
        case .null, .absent: if let text = nilEncoding.text { appendPair(name, text, to: &buffer) }
        case .invalid(let error): throw error
        case .bool(let value): appendPair(name, boolEncoding.encode(value), to: &buffer)
        case .number(let text), .string(let text): appendPair(name, text, to: &buffer)
        case .date(let date):
            appendPair(name, try attributingErrors(to: name) { try dateEncoding.encode(date) }, to: &buffer)
        case .data(let data): try append(data, named: name, to: &buffer)
        case .array(let values):
            for (index, value) in values.enumerated() {
                try append(value, named: arrayEncoding.encode(name, index), depth: depth + 1, to: &buffer)
            }
        case .object(let members):
            for member in named(members) {
                try append(
                    member.value, named: keyPathEncoding.encode(name, member.name), depth: depth + 1, to: &buffer)
            }
        }
    }

    private func append(_ data: Data, named name: String, to buffer: inout [UInt8]) throws {
        guard let text = try attributingErrors(to: name, { try dataEncoding.encode(data) }) else {
            return try append(.array(data.map(ParameterValue.number)), named: name, to: &buffer)
        }
        appendPair(name, text, to: &buffer)
    }

    private func appendPair(_ name: String, _ value: String, to buffer: inout [UInt8]) {
        appendName(name, to: &buffer)
        appendValue(value, to: &buffer)
    }

    private func appendName(_ name: String, to buffer: inout [UInt8]) {
        if !buffer.isEmpty { buffer.append(.ampersand) }
        buffer.appendEscaped(name, allowed: allowed, plusForSpace: spaceEncoding == .plusReplaced)
    }

    private func appendValue(_ value: String, to buffer: inout [UInt8]) {
        buffer.append(.equals)
        buffer.appendEscaped(value, allowed: allowed, plusForSpace: spaceEncoding == .plusReplaced)
    }

    /// Runs a custom strategy, and names the parameter in its error.
    private func attributingErrors<Output>(
        to name: String, _ encode: () throws -> Output
    ) throws(NetworkError) -> Output {
        do {
            return try encode()
        } catch {
            throw NetworkError(.encodingFailed, reason: EncodingFailure.describe(error, at: name), underlying: error)
        }
    }
}

/// Describes an `EncodingError` in one line, without the value.
package enum EncodingFailure {
    package static let encodable = "the value's encode(to:)"

    static func describe(_ error: any Error, at path: String = "", by source: String = encodable) -> String {
        switch error {
        case let error as NetworkError:
            return error.reason ?? error.code.title
        case EncodingError.invalidValue(let value, let context):
            let keys = context.codingPath.pathText
            let path = path + (path.isEmpty || keys.isEmpty || keys.hasPrefix("[") ? "" : ".") + keys
            return "\(subject(at: path)), a \(type(of: value)), cannot be encoded: \(context.debugDescription)"
        default:
            return (path.isEmpty ? "" : "\(path): ") + "\(type(of: error)) was thrown by \(source)"
        }
    }

    static func subject(at path: String) -> String {
        path.isEmpty ? "the value" : "the value of \(path.quotedForMessage)"
    }
}

extension NetworkError {
    /// Returns the error itself if it is a ``NetworkError``, or else ``Code/encodingFailed`` with the error underneath.
    /// `source` names what has thrown it.
    package static func encoding(_ error: any Error, by source: String = EncodingFailure.encodable)
        -> NetworkError
    {
        error as? NetworkError
            ?? NetworkError(
                .encodingFailed, reason: EncodingFailure.describe(error, by: source), underlying: error)
    }
}

extension ASCIISet {
    /// Creates the ASCII subset of a set, without characters that would change the meaning of a query.
    fileprivate init(escapable characters: CharacterSet) {
        let allowed = (UInt8(0x20)..<0x7F).filter { byte in
            characters.contains(Unicode.Scalar(byte)) && !" %&=+#".utf8.contains(byte)
        }
        self.init(String(decoding: allowed, as: UTF8.self))
    }
}
