import SwitchboardText
import Foundation

/// The header fields of a request or a response. They are ordered, ignore the case of names, and may repeat a name.
///
/// ```swift
/// var headers: HTTPHeaders = ["Accept": "application/json"]
/// headers["accept"] = "text/plain"          // replaces the first field
/// headers.add("X-Tag", "a")
/// headers.add("X-Tag", "b")                 // sends both in this order
/// ```
///
/// Writing a field never fails. ``validate()`` throws for a name or a value that a head cannot contain, and every
/// session calls it before it sends. A value can therefore never inject a second header line.
public struct HTTPHeaders: Sendable, Hashable {
    @usableFromInline var fields: [HTTPHeader]
    /// Whether a field may be invalid. Valid fields are then not validated again.
    private var needsValidation = false

    /// Creates an empty list of fields.
    public init() {
        fields = []
    }

    /// Creates a list without checking its fields. Pass true as `needsValidation` if one of them may be invalid.
    package init(_ fields: [HTTPHeader], needsValidation: Bool) {
        self.fields = fields
        self.needsValidation = needsValidation
    }

    /// Creates a list from fields, in their order and with repeated names.
    public init(_ fields: some Sequence<HTTPHeader>) {
        self.init()
        for field in fields { append(field) }
    }

    /// Creates a list from a dictionary. The entries are sorted by name, because a dictionary has no order.
    public init(_ dictionary: [String: String]) {
        self.init()
        for name in dictionary.keys.sorted() { add(name, dictionary[name] ?? "") }
    }

    /// Appends a field. Existing fields of that name stay.
    public mutating func append(_ field: HTTPHeader) {
        if !needsValidation, field.fault != nil { needsValidation = true }
        fields.append(field)
    }

    /// Appends a field. Existing fields of that name stay.
    public mutating func add(_ name: String, _ value: String) {
        append(HTTPHeader(name: name, value: value))
    }

    /// Replaces every field of that name with this one, at the position of the first, or appends it.
    package mutating func set(_ name: String, _ value: String) {
        set(HTTPHeader(name: name, value: value))
    }

    package mutating func set(_ field: HTTPHeader) {
        guard let index = index(of: field.name) else { return append(field) }
        if !needsValidation, field.fault != nil { needsValidation = true }
        fields[index] = field
        let rest = fields.index(after: index)...
        if fields[rest].contains(where: { $0.name.equalsIgnoringCase(field.name) }) {
            fields[rest].removeAll { $0.name.equalsIgnoringCase(field.name) }
        }
    }

    /// Removes every field of that name.
    public mutating func remove(_ name: String) {
        fields.removeAll { $0.name.equalsIgnoringCase(name) }
    }

    /// Returns all values of that name in order, or an empty array if no such field exists.
    public func values(for name: String) -> [String] {
        fields.compactMap { $0.name.equalsIgnoringCase(name) ? $0.value : nil }
    }

    /// Returns whether a field of that name exists.
    public func contains(_ name: String) -> Bool {
        index(of: name) != nil
    }

    /// The value of that name, or nil if no such field exists.
    ///
    /// Reading a repeated name joins its values with commas, which has the same meaning ([RFC 9110
    /// §5.3](https://www.rfc-editor.org/rfc/rfc9110#section-5.3)), and those of `Cookie` with semicolons ([RFC 6265
    /// §4.2.1](https://www.rfc-editor.org/rfc/rfc6265#section-4.2.1)). `Set-Cookie` cannot be joined, so reading it returns
    /// the first value. ``values(for:)`` returns the values separately. Writing replaces every field of that name, and
    /// writing nil removes them.
    public subscript(name: String) -> String? {
        get {
            guard let index = index(of: name) else { return nil }
            let first = fields[index].value
            let rest = fields[(index + 1)...].lazy.filter { $0.name.equalsIgnoringCase(name) }
            guard !rest.isEmpty, !name.equalsIgnoringCase("Set-Cookie") else { return first }
            return ([first] + rest.map(\.value)).joined(separator: Self.separator(of: name))
        }
        set {
            if let newValue { set(name, newValue) } else { remove(name) }
        }
    }

    /// Removes the fields whose names `other` also has, and appends the fields of `other`. Repeated names in `other`
    /// stay repeated.
    public mutating func merge(_ other: HTTPHeaders) {
        guard !other.isEmpty else { return }
        guard !isEmpty else { return self = other }
        let isReplaced = Self.lookup(other.fields[...])
        fields.removeAll { isReplaced($0.name) }
        fields += other.fields
        needsValidation = needsValidation || other.needsValidation
    }

    /// Returns these fields merged with `other`. See ``merge(_:)``.
    public func merging(_ other: HTTPHeaders?) -> HTTPHeaders {
        guard let other else { return self }
        var result = self
        result.merge(other)
        return result
    }

    /// Appends the fields of `other` whose names do not exist here, except excluded names.
    package mutating func addMissing(_ other: HTTPHeaders, except isExcluded: (String) -> Bool = { _ in false }) {
        guard !other.isEmpty else { return }
        if fields.isEmpty, !other.fields.contains(where: { isExcluded($0.name) }) { return self = other }
        // The lookup contains only the earlier fields, because `other` may repeat a name.
        let exists = Self.lookup(fields[...])
        for field in other.fields where !isExcluded(field.name) && !exists(field.name) { fields.append(field) }
        needsValidation = needsValidation || other.needsValidation
    }

    /// Throws if a field cannot be sent as a header line.
    ///
    /// - Throws: ``NetworkError/Code/invalidRequest`` when a name is not a token, or a value contains a control
    ///   character other than a tab. CR, LF and NUL could inject another header ([RFC 9110
    ///   §5.5](https://www.rfc-editor.org/rfc/rfc9110#section-5.5)). The reason contains the header's name, never its
    ///   value.
    public func validate() throws(NetworkError) {
        guard needsValidation else { return }
        for field in fields {
            if let fault = field.fault { throw NetworkError(.invalidRequest, reason: fault) }
        }
    }

    /// Returns a closure that checks whether a name exists. It uses a set for more than eight fields, so that long
    /// lists merge in linear time.
    private static func lookup(_ fields: ArraySlice<HTTPHeader>) -> (String) -> Bool {
        guard fields.count > 8 else { return { name in fields.contains { $0.name.equalsIgnoringCase(name) } } }
        let names = Set(fields.map { $0.name.utf8.map(\.lowercased) })
        return { names.contains($0.utf8.map(\.lowercased)) }
    }

    private func index(of name: String) -> Int? {
        fields.firstIndex { $0.name.equalsIgnoringCase(name) }
    }

    /// Compares fields and their order. Names ignore case.
    public static func == (lhs: HTTPHeaders, rhs: HTTPHeaders) -> Bool {
        lhs.fields == rhs.fields
    }

    /// Hashes the parts that `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(fields)
    }
}

extension HTTPHeaders {
    /// Returns the members of a list field over all its lines, without empty ones ([RFC 9110
    /// §5.6.1](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.1)).
    package func listMembers(of name: String) -> [String] { values(for: name).listMembers }

    /// The last `Content-Type`, which counts if a server sends several ([RFC 9110
    /// §8.3](https://www.rfc-editor.org/rfc/rfc9110#section-8.3)). URLSession joins them with commas.
    package var contentType: String? {
        values(for: "Content-Type").flatMap { $0.splitOutsideQuotes(at: .comma) }.map(\.trimmedOfBlanks)
            .last { !$0.isEmpty }
    }
}

extension [String] {
    package var listMembers: [String] {
        flatMap { $0.pieces(between: .comma) }.map(\.trimmedOfBlanks).filter { !$0.isEmpty }
    }
}

extension HTTPHeaders: RandomAccessCollection {
    /// The position of the first field.
    @inlinable public var startIndex: Int { fields.startIndex }
    /// One past the position of the last field.
    @inlinable public var endIndex: Int { fields.endIndex }
    /// The field at a position.
    @inlinable public subscript(position: Int) -> HTTPHeader { fields[position] }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral {
    /// Creates a list from a literal, in its order and with repeated names.
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init()
        for (name, value) in elements { add(name, value) }
    }

    /// Creates a list from a literal, in its order and with repeated names.
    public init(arrayLiteral elements: HTTPHeader...) {
        self.init(elements)
    }
}

extension HTTPHeaders: DumpedAsDescription {
    /// One line for each field, with secrets redacted.
    public var description: String {
        fields.map(\.description).joined(separator: "\n")
    }
}

/// One header field: a name and a value.
public struct HTTPHeader: Hashable, Sendable, DumpedAsDescription {
    /// The name as it was given. Comparisons ignore case.
    public let name: String
    /// The value, without leading and trailing spaces and tabs ([RFC 9110
    /// §5.5](https://www.rfc-editor.org/rfc/rfc9110#section-5.5)).
    public let value: String

    /// Creates a field. Any text is accepted here; ``HTTPHeaders/validate()`` refuses fields that cannot be sent.
    public init(name: String, value: String) {
        self.name = name
        self.value = value.trimmedOfBlanks
    }

    package init(name: String, trimmedValue value: String) {
        self.name = name
        self.value = value
    }

    /// Returns an `Accept` field.
    public static func accept(_ value: String) -> HTTPHeader { HTTPHeader(name: "Accept", value: value) }
    /// Returns a `Content-Type` field.
    public static func contentType(_ value: String) -> HTTPHeader { HTTPHeader(name: "Content-Type", value: value) }
    /// Returns a `User-Agent` field.
    public static func userAgent(_ value: String) -> HTTPHeader { HTTPHeader(name: "User-Agent", value: value) }
    /// Returns an `Authorization` field with any value.
    public static func authorization(_ value: String) -> HTTPHeader { HTTPHeader(name: "Authorization", value: value) }
    /// Returns `Authorization: Bearer token` ([RFC 6750 §2.1](https://www.rfc-editor.org/rfc/rfc6750#section-2.1)).
    public static func authorization(bearerToken: String) -> HTTPHeader { authorization("Bearer \(bearerToken)") }

    /// `name: value`, with the value redacted if the name indicates a secret.
    public var description: String {
        "\(name): \(Redaction.standard.value(value, ofHeader: name))"
    }

    /// Compares names without case, and values byte by byte.
    public static func == (lhs: HTTPHeader, rhs: HTTPHeader) -> Bool {
        lhs.name.equalsIgnoringCase(rhs.name) && lhs.value.hasBytes(of: rhs.value)
    }

    /// Hashes the parts that `==` compares.
    public func hash(into hasher: inout Hasher) {
        for byte in name.utf8 { hasher.combine(byte.lowercased) }
        hasher.combine(value)
    }

    package var fault: String? {
        guard name.isHTTPToken else {
            return "header name \(name.quotedForMessage) is not a token (RFC 9110 §5.6.2)"
        }
        var value = value
        let byte = value.withUTF8 { $0.first { $0.breaksFieldValue } }
        return byte.map { "the value of header \(name.shortForMessage) contains \($0.nameForMessage) (RFC 9110 §5.5)" }
    }
}

extension HTTPHeaders {
    /// One entry for each name, spelled as in its first field, with repeated values joined. The loop runs in one pass,
    /// because the server chooses the number of fields.
    var joinedByName: [String: String] {
        var values: [String: (name: String, values: [String])] = [:]
        for field in self {
            values[field.name.lowercased(), default: (field.name, [])].values.append(field.value)
        }
        return Dictionary(
            uniqueKeysWithValues: values.map { key, field in
                (field.name, field.values.joined(separator: Self.separator(of: key)))
            })
    }

    private static func separator(of name: String) -> String { name.equalsIgnoringCase("Cookie") ? "; " : ", " }
}
