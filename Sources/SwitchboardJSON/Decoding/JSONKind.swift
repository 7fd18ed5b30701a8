/// The kind of a JSON value, for a type that decodes values of any kind.
package enum JSONKind {
    case null, bool, string, array, object
    /// A number, as it is written.
    case number(String)
}

extension FastJSONDecoder {
    /// Returns the kind of a decoder's value. Nil for the decoder of another format.
    package static func kind(of decoder: any Decoder) -> JSONKind? {
        guard let decoder = decoder as? JSONValueDecoder else { return nil }
        switch decoder.document.tape[decoder.index].kind {
        case .null: return .null
        case .false, .true: return .bool
        case .number: return .number(String(decoding: decoder.document.text(of: decoder.index), as: UTF8.self))
        case .string: return .string
        case .array: return .array
        case .object, .name: return .object
        }
    }
}
