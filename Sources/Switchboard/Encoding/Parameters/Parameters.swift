import Foundation
import SwitchboardJSON
import SwitchboardText

/// Ordered names and values for a query, a form or a JSON object.
///
/// ```swift
/// let parameters: Parameters = [
///     "page": page, "tag": "a+b", "tag": "c",
///     "since": Date(), "ids": [1, 2], "q": nil,
/// ]
/// let nested: Parameters = [
///     "filter": ["year": 1979, "title": "Alien", "rated": nil],
///     "sort": ["year", 1],
/// ]
/// ```
///
/// A value is a literal or a variable: a string, number, Boolean, date, data, URL, raw-representable enum or nil, an
/// array or dictionary of these, or any `Encodable`. An `Encodable` is encoded at once. The encoder determines the
/// format: ``URLParameterEncoder``, ``JSONParameterEncoder``. A value of any other type fails with
/// ``NetworkError/Code/encodingFailed``, which names its key; its description is never sent.
///
/// `Parameters(value)` converts a dictionary or any other `Encodable`. A nested dictionary literal is a dictionary, so
/// its members are sorted by name, and the compiler warns about optional variables in it. `["b": 1, "a": page] as
/// Parameters` keeps the order and accepts optionals.
public struct Parameters: Sendable {
    /// One name and its value.
    public typealias Element = (name: String, value: ParameterValue)

    private(set) var elements: [Element]

    /// Creates an empty list.
    public init() {
        elements = []
    }

    /// Creates a list from pairs, in their order and with repeated names.
    public init(_ elements: some Sequence<Element>) {
        self.elements = Array(elements)
    }

    /// Creates a list from pairs, in their order and with repeated names. A value that cannot be encoded fails when the
    /// parameters are written.
    public init<Value>(_ elements: some Sequence<(name: String, value: Value)>) {
        self.elements = elements.map { ($0.name, ParameterValue(any: $0.value, at: $0.name)) }
    }

    /// Creates a list from a dictionary. The entries are sorted by name, because a dictionary has no order.
    ///
    /// A value that cannot be encoded fails when the parameters are written.
    public init(_ dictionary: [String: any Sendable]) {
        self.init(sorting: dictionary) { $0 }
    }

    /// Creates a list from a dictionary of untyped values, sorted by name.
    ///
    /// - Throws: ``NetworkError/Code/encodingFailed``, which names the key and the type of the first value that cannot
    ///   be encoded.
    public init(_ dictionary: [String: Any]) throws(NetworkError) {
        self.init(sorting: dictionary) { $0 }
        if let error = fault() { throw error }
    }

    /// Creates a list from the members of a struct or class, in the order in which it encodes them, or from a
    /// dictionary, sorted by name.
    ///
    /// - Throws: ``NetworkError/Code/encodingFailed`` when the value's encoding throws, and for a scalar or an array,
    ///   which have no names.
    @_disfavoredOverload
    public init(_ value: some Encodable) throws(NetworkError) {
        try self.init(encoding: value, for: "parameters require")
    }

    init(encoding value: some Encodable, for need: String) throws(NetworkError) {
        do {
            guard case .object(let members) = try ParameterValue(encoding: value) else {
                throw NetworkError(
                    .encodingFailed, reason: "a \(type(of: value)) has no member names, which \(need)")
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

    init(sorting dictionary: [String: Any], depth: Int = 0, path: (String) -> String) {
        elements = Array(dictionary).sorted(byName: \.key)
            .map { ($0.key, ParameterValue(any: $0.value, at: path($0.key), depth: depth)) }
    }

    /// Appends a parameter. Existing parameters of that name stay.
    public mutating func add(_ name: String, _ value: ParameterValue) {
        elements.append((name, value))
    }

    /// Appends a parameter whose value is a variable of any type. Existing parameters of that name stay.
    @_disfavoredOverload
    public mutating func add(_ name: String, _ value: Any?) {
        add(name, value.map { ParameterValue(any: $0, at: name) } ?? .null)
    }

    /// The first value of that name, or nil. Writing replaces every value of that name, at the position of the first,
    /// and writing nil removes them.
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

    /// The first value of that name. Writing accepts a variable of any type: `parameters["page"] = page`.
    @_disfavoredOverload
    public subscript(name: String) -> Any? {
        get { self[name] as ParameterValue? }
        set { self[name] = newValue.map { ParameterValue(any: $0, at: name) } }
    }

    /// Returns the error of the first value that cannot be encoded.
    func fault(depth: Int = 0) -> NetworkError? {
        for element in elements {
            if let fault = element.value.fault(depth: depth) { return fault }
        }
        return nil
    }
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
    /// Creates a list from a literal, in its order and with repeated names.
    public init(dictionaryLiteral elements: (String, Any?)...) {
        self.init(untyped: elements)
    }
}

extension Parameters: Equatable {
    /// Returns whether names and values are equal, in the same order.
    public static func == (lhs: Parameters, rhs: Parameters) -> Bool {
        lhs.elementsEqual(rhs) { $0 == $1 }
    }
}

extension Parameters: DumpedAsDescription {
    /// The names and values, with secrets redacted.
    public var description: String {
        "[" + map { "\($0.name): \(Self.text(of: $0))" }.joined(separator: ", ") + "]"
    }

    private static func text(of element: Element) -> String {
        let secrets = Redaction.standard
        if secrets.isSecret(parameter: element.name) { return secrets.mask }
        if case .string(let text) = element.value { return secrets.text(text) }
        guard let json = try? FastJSONEncoder.ofRequests.encode(element.value) else { return "(cannot be encoded)" }
        return secrets.text(String(decoding: json, as: UTF8.self))
    }
}
