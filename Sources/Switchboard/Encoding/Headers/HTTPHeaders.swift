import Foundation
import SwitchboardText

/// The header fields of a request or a response: ordered, names without case, a name as often as you like.
///
/// ```swift
/// var headers: HTTPHeaders = ["Accept": "application/json"]
/// headers["accept"] = "text/plain"          // replaces: one field is left
/// headers.add("X-Tag", "a")
/// headers.add("X-Tag", "b")                 // both are sent, in this order
/// ```
///
/// Nothing is refused while fields are written, but ``validate()`` throws for a name or a value that could not stand in
/// a head, and every session calls it before it sends: no value can start a header line of its own.
public struct HTTPHeaders: Sendable, Hashable {
    private var fields: [HTTPHeader]
    /// Set once a field that may not be sent was written, so that validating good fields costs nothing.
    private var isSuspect = false

    /// No fields.
    public init() {
        fields = []
    }

    /// Fields that were looked at before: `isSuspect` says whether one of them may not be sent.
    package init(_ fields: [HTTPHeader], isSuspect: Bool) {
        self.fields = fields
        self.isSuspect = isSuspect
    }

    /// The fields in the order given, repeats kept.
    public init(_ fields: some Sequence<HTTPHeader>) {
        self.init()
        for field in fields { append(field) }
    }

    /// The entries of a dictionary, in the order of their names, because a dictionary has none.
    public init(_ dictionary: [String: String]) {
        self.init()
        for name in dictionary.keys.sorted() { add(name, dictionary[name] ?? "") }
    }

    /// Appends a field; fields of that name that are there already stay.
    public mutating func append(_ field: HTTPHeader) {
        if field.fault != nil { isSuspect = true }
        fields.append(field)
    }

    /// Appends a field; fields of that name that are there already stay.
    public mutating func add(_ name: String, _ value: String) {
        append(HTTPHeader(name: name, value: value))
    }

    /// Replaces every field of that name by this one, at the place of the first.
    public mutating func set(_ name: String, _ value: String) {
        set(HTTPHeader(name: name, value: value))
    }

    /// Replaces every field of that name by this one, at the place of the first.
    public mutating func set(_ field: HTTPHeader) {
        guard let index = index(of: field.name) else { return append(field) }
        if field.fault != nil { isSuspect = true }
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

    /// Every value of that name, in order; empty when there is none.
    public func values(for name: String) -> [String] {
        fields.compactMap { $0.name.equalsIgnoringCase(name) ? $0.value : nil }
    }

    /// Whether there is a field of that name.
    public func contains(_ name: String) -> Bool {
        index(of: name) != nil
    }

    /// The value of that name, or nil when there is none.
    ///
    /// Reading a name that occurs more than once joins the values with a comma, which means the same
    /// ([RFC 9110 §5.3](https://www.rfc-editor.org/rfc/rfc9110#section-5.3)); `Set-Cookie`, which must not be joined,
    /// gives its first value. ``values(for:)`` keeps them apart. Writing replaces every field of that name, and nil
    /// removes them.
    public subscript(name: String) -> String? {
        get {
            guard let index = index(of: name) else { return nil }
            let first = fields[index].value
            let rest = fields[(index + 1)...].lazy.filter { $0.name.equalsIgnoringCase(name) }
            guard !rest.isEmpty, !name.equalsIgnoringCase("Set-Cookie") else { return first }
            return ([first] + rest.map(\.value)).joined(separator: ", ")
        }
        set {
            if let newValue { set(name, newValue) } else { remove(name) }
        }
    }

    /// Replaces, name by name, what `other` also has, and appends the rest. Repeats within `other` are kept.
    public mutating func merge(_ other: HTTPHeaders) {
        guard !other.isEmpty else { return }
        guard !isEmpty else { return self = other }
        let isReplaced = Self.lookup(other.fields[...])
        fields.removeAll { isReplaced($0.name) }
        fields += other.fields
        isSuspect = isSuspect || other.isSuspect
    }

    /// These fields with those of `other` over them; see ``merge(_:)``.
    public func merging(_ other: HTTPHeaders?) -> HTTPHeaders {
        guard let other else { return self }
        var result = self
        result.merge(other)
        return result
    }

    /// Appends the fields of `other` whose names are not there yet and are not to be left out.
    package mutating func fill(_ other: HTTPHeaders, leavingOut isLeftOut: (String) -> Bool = { _ in false }) {
        guard !other.isEmpty else { return }
        if fields.isEmpty, !other.fields.contains(where: { isLeftOut($0.name) }) { return self = other }
        // What was there before: a name may repeat within `other`.
        let isThere = Self.lookup(fields[...])
        for field in other.fields where !isLeftOut(field.name) && !isThere(field.name) { fields.append(field) }
        isSuspect = isSuspect || other.isSuspect
    }

    /// Refuses what could not be sent as a header line.
    ///
    /// - Throws: ``NetworkError/Code/invalidRequest`` when a name is not a token or a value holds a control character
    ///   other than a tab: CR, LF and NUL above all, which would start a header of the value's own
    ///   ([RFC 9110 §5.5](https://www.rfc-editor.org/rfc/rfc9110#section-5.5)). The reason names the header, never its
    ///   value.
    public func validate() throws(NetworkError) {
        guard isSuspect else { return }
        for field in fields {
            if let fault = field.fault { throw NetworkError(.invalidRequest, reason: fault) }
        }
    }

    /// Tells whether fields have a name. Many are looked up in a set, so that two long lists take no longer than both.
    private static func lookup(_ fields: ArraySlice<HTTPHeader>) -> (String) -> Bool {
        guard fields.count > 8 else { return { name in fields.contains { $0.name.equalsIgnoringCase(name) } } }
        let names = Set(fields.map { $0.name.utf8.map(\.lowercased) })
        return { names.contains($0.utf8.map(\.lowercased)) }
    }

    private func index(of name: String) -> Int? {
        fields.firstIndex { $0.name.equalsIgnoringCase(name) }
    }

    /// Equal when the same fields stand in the same order, names without case.
    public static func == (one: HTTPHeaders, other: HTTPHeaders) -> Bool {
        one.fields == other.fields
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(fields)
    }
}

extension HTTPHeaders: RandomAccessCollection {
    /// The position of the first field.
    public var startIndex: Int { fields.startIndex }
    /// One past the position of the last field.
    public var endIndex: Int { fields.endIndex }
    /// The field at a position.
    public subscript(position: Int) -> HTTPHeader { fields[position] }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral {
    /// The fields in the order written, repeats kept.
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init()
        for (name, value) in elements { add(name, value) }
    }

    /// The fields in the order written, repeats kept.
    public init(arrayLiteral elements: HTTPHeader...) {
        self.init(elements)
    }
}

extension HTTPHeaders: CustomStringConvertible, CustomReflectable {
    /// Shows the redacted text only, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }

    /// A line for each field, secrets replaced.
    public var description: String {
        fields.map(\.description).joined(separator: "\n")
    }
}
