import Foundation

/// A value on its way to text: what a form and a JSON document have in common, members in order.
indirect enum EncodedValue: Sendable {
    case null
    /// An optional that the encoded type left out. JSON leaves it out too; a form decides by its `NilEncoding`.
    case absent
    case bool(Bool)
    /// The number as JSON writes it.
    case number(String)
    case string(String)
    case date(Date)
    case data(Data)
    case array([EncodedValue])
    case object([Member])

    struct Member: Sendable {
        var name: String
        var value: EncodedValue
    }

    var isAbsent: Bool {
        if case .absent = self { true } else { false }
    }

    /// The value of any `Encodable`, members in the order in which the type encodes them and those of a dictionary by
    /// name.
    init(encoding value: any Encodable) throws {
        let node = EncodingNode()
        try node.encode(value, at: [])
        self = node.finished
    }

    static func number(_ value: some BinaryInteger) -> EncodedValue {
        .number(String(value))
    }

    /// Nil for an infinity or a NaN, which neither form nor JSON can write.
    static func number<Value: BinaryFloatingPoint & LosslessStringConvertible>(finite value: Value) -> EncodedValue? {
        guard value.isFinite else { return nil }
        let text = String(value)
        return .number(text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
    }
}
