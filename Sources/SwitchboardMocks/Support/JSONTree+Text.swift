import Switchboard
import SwitchboardHAR
import SwitchboardText

extension JSONTree: CustomStringConvertible {
    /// The value in short. Lists and objects show only their size.
    package var description: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .number(let value): "\(value)"
        case .double(let value): "\(value)"
        case .string(let value): value.quoted
        case .array(let values): "a list of \(values.count)"
        case .object(let members): "an object of \(members.count)"
        }
    }
}

extension String {
    /// The text in quotes, on one line, truncated when it is long.
    var quoted: String {
        let short = unicodeScalars.prefix(80)
        let text = short.map { $0.value < 0x20 || $0.value == 0x7F ? $0.escaped(asASCII: true) : String($0) }.joined()
        return "\"\(text)\(short.endIndex == unicodeScalars.endIndex ? "" : "…")\""
    }
}
