/// Names and values for a query, a form or a JSON object, in the order written.
///
/// ```swift
/// let parameters: Parameters = ["page": 1, "tag": "a+b", "tag": "c", "since": Date(), "ids": [1, 2], "q": nil as String?]
/// ```
///
/// Values are strings, numbers, booleans, dates, data, URLs, raw-representable enums, optionals of these, arrays and
/// dictionaries of these, or any `Encodable`. What becomes of them is the encoder's choice: ``URLParameterEncoder``,
/// ``JSONParameterEncoder``. A value that is none of them fails with ``NetworkError/Code/encodingFailed``, naming its
/// key; it is never printed as text.
public struct Parameters: Sendable {
    /// One name and its value.
    public typealias Element = (name: String, value: any Sendable)

    // Without labels, as a literal has them: to add them to an array would copy it.
    private var elements: [(String, any Sendable)]

    /// No parameters.
    public init() {
        elements = []
    }

    /// The pairs in the order given, repeats kept.
    public init(_ elements: some Sequence<Element>) {
        self.elements = elements.map { ($0.name, $0.value) }
    }

    /// The entries of a dictionary, in the order of their names, because a dictionary has none.
    public init(_ dictionary: [String: any Sendable]) {
        elements = dictionary.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Appends a parameter; those of that name that are there already stay.
    public mutating func add(_ name: String, _ value: any Sendable) {
        elements.append((name, value))
    }

    /// The first value of that name, or nil. Setting replaces every value of that name, at the place of the first; nil
    /// removes them.
    public subscript(name: String) -> (any Sendable)? {
        get { elements.first { $0.0 == name }?.1 }
        set {
            let index = elements.firstIndex { $0.0 == name }
            guard let newValue else { return elements.removeAll { $0.0 == name } }
            guard let index else { return add(name, newValue) }
            elements[index].1 = newValue
            elements[(index + 1)...].removeAll { $0.0 == name }
        }
    }
}

extension Parameters: RandomAccessCollection {
    /// The position of the first parameter.
    public var startIndex: Int { elements.startIndex }
    /// One past the position of the last parameter.
    public var endIndex: Int { elements.endIndex }
    /// The parameter at a position.
    public subscript(position: Int) -> Element { (elements[position].0, elements[position].1) }
}

extension Parameters: ExpressibleByDictionaryLiteral {
    /// The parameters in the order written, repeats kept.
    public init(dictionaryLiteral elements: (String, any Sendable)...) {
        self.elements = elements
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
        if let text = element.value as? String { return text }
        guard let json = try? JSONText().data(EncodedValue(any: element.value, at: element.name)) else {
            return "(\(type(of: element.value)))"
        }
        return secrets.text(String(decoding: json, as: UTF8.self))
    }
}
