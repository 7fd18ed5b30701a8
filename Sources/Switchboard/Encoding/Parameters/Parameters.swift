import Foundation
import SwitchboardJSON
import SwitchboardText

/// Names and values for a query, a form or a JSON object, in the order written.
///
/// ```swift
/// let parameters: Parameters = ["page": page, "tag": "a+b", "tag": "c", "since": Date(), "ids": [1, 2], "q": nil]
/// let nested: Parameters = ["filter": ["year": 1979, "title": "Alien", "rated": nil], "sort": ["year", 1]]
/// ```
///
/// Values are literals and variables: strings, numbers, Booleans, dates, data, URLs, raw-representable enums, nil,
/// arrays and dictionaries of these, or any `Encodable`, which is encoded at once. The encoder decides their form:
/// ``URLParameterEncoder``, ``JSONParameterEncoder``. A value of any other type fails with
/// ``NetworkError/Code/encodingFailed``, naming its key; it is never printed as text.
///
/// `Parameters(value)` converts a dictionary or any other `Encodable`. A nested dictionary literal is a dictionary: its
/// members are sorted by name, and the compiler warns of an optional variable in it. `["b": 1, "a": page] as Parameters`
/// keeps the order and takes optionals.
public struct Parameters: Sendable {
    /// One name and its value.
    public typealias Element = (name: String, value: ParameterValue)

    private(set) var elements: [Element]

    /// No parameters.
    public init() {
        elements = []
    }

    /// The pairs in the order given, repeats kept.
    public init(_ elements: some Sequence<Element>) {
        self.elements = Array(elements)
    }

    /// The pairs in the order given, repeats kept. A value that cannot be encoded fails when the parameters are written.
    public init<Value: Sendable>(_ elements: some Sequence<(name: String, value: Value)>) {
        self.elements = elements.map { ($0.name, ParameterValue(any: $0.value, at: $0.name)) }
    }

    /// The entries of a dictionary, in the order of their names, because a dictionary has none.
    ///
    /// A value that cannot be encoded fails when the parameters are written.
    public init(_ dictionary: [String: any Sendable]) {
        self.init(sorting: dictionary) { $0 }
    }

    /// The entries of a dictionary of values that the compiler knows nothing about, in the order of their names.
    ///
    /// - Throws: ``NetworkError/Code/encodingFailed``, naming the key and the type of the first value that cannot be
    ///   encoded.
    public init(_ dictionary: [String: Any]) throws(NetworkError) {
        self.init(sorting: dictionary) { $0 }
        if let fault { throw fault }
    }

    /// The members of a struct or class, in the order in which it encodes them, or the entries of a dictionary, by name.
    ///
    /// - Throws: ``NetworkError/Code/encodingFailed`` when the value's encoding throws, and for a scalar or an array,
    ///   which have no names.
    @_disfavoredOverload
    public init(_ value: some Encodable) throws(NetworkError) {
        do {
            guard case .object(let members) = try ParameterValue(encoding: value) else {
                throw NetworkError(
                    .encodingFailed, reason: "a \(type(of: value)) has no member names, which parameters require")
            }
            self = members
        } catch {
            throw .encoding(error)
        }
    }

    init(untyped literal: [(String, Any?)]) {
        elements = []
        elements.reserveCapacity(literal.count)
        for (name, value) in literal {
            if let value { add(name, ParameterValue(any: value, at: name)) } else { add(name, .null) }
        }
    }

    init(sorting dictionary: [String: Any], path: (String) -> String) {
        elements = Array(dictionary).sorted(byName: \.key)
            .map { ($0.key, ParameterValue(any: $0.value, at: path($0.key))) }
    }

    /// Appends a parameter; those of that name that are there already stay.
    public mutating func add(_ name: String, _ value: ParameterValue) {
        elements.append((name, value))
    }

    /// Appends a parameter whose value is a variable of any kind; those of that name that are there already stay.
    @_disfavoredOverload
    public mutating func add(_ name: String, _ value: Any?) {
        add(name, value.map { ParameterValue(any: $0, at: name) } ?? .null)
    }

    /// The first value of that name, or nil. Setting replaces every value of that name, at the place of the first; nil
    /// removes them.
    public subscript(name: String) -> ParameterValue? {
        get { elements.first { $0.name == name }?.value }
        set {
            let index = elements.firstIndex { $0.name == name }
            guard let newValue else { return elements.removeAll { $0.name == name } }
            guard let index else { return add(name, newValue) }
            elements[index].value = newValue
            elements[(index + 1)...].removeAll { $0.name == name }
        }
    }

    /// The first value of that name, to be set to a variable of any kind: `parameters["page"] = page`.
    @_disfavoredOverload
    public subscript(name: String) -> (any Sendable)? {
        get { self[name] as ParameterValue? }
        set { self[name] = newValue.map { ParameterValue(any: $0, at: name) } }
    }

    /// The error of the first value that cannot be encoded.
    var fault: NetworkError? { elements.lazy.compactMap(\.value.fault).first }
}

extension Parameters: RandomAccessCollection {
    /// The position of the first parameter.
    public var startIndex: Int { elements.startIndex }
    /// One past the position of the last parameter.
    public var endIndex: Int { elements.endIndex }
    /// The parameter at a position.
    public subscript(position: Int) -> Element { elements[position] }
}

extension Parameters: ExpressibleByDictionaryLiteral {
    /// The parameters in the order written, repeats kept.
    public init(dictionaryLiteral elements: (String, Any?)...) {
        self.init(untyped: elements)
    }
}

extension Parameters: Equatable {
    /// Whether names and values are the same, in the same order.
    public static func == (one: Parameters, other: Parameters) -> Bool {
        one.elementsEqual(other) { $0 == $1 }
    }
}

extension Parameters: CustomStringConvertible, CustomReflectable {
    /// Shows the redacted text only, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }

    /// The names and values, secrets replaced.
    public var description: String {
        "[" + map { "\($0.name): \(Self.text(of: $0))" }.joined(separator: ", ") + "]"
    }

    private static func text(of element: Element) -> String {
        let secrets = Redaction.standard
        if secrets.isSecret(parameter: element.name) { return secrets.mask }
        if case .string(let text) = element.value { return text }
        guard let json = try? FastJSONEncoder().encode(element.value) else { return "(cannot be encoded)" }
        return secrets.text(String(decoding: json, as: UTF8.self))
    }
}
