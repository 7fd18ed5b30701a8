import Foundation
import SwitchboardJSON

extension URLEncodedFormEncoder {
    /// A strategy for the names of array elements.
    public struct ArrayEncoding: Sendable {
        let encode: @Sendable (_ name: String, _ index: Int) -> String

        /// `ids[]=1&ids[]=2`, the default.
        public static let brackets = ArrayEncoding { name, _ in name + "[]" }
        /// `ids=1&ids=2`
        public static let noBrackets = ArrayEncoding { name, _ in name }
        /// `ids[0]=1&ids[1]=2`
        public static let indexInBrackets = ArrayEncoding { name, index in "\(name)[\(index)]" }
        /// Returns a custom strategy. `encode` makes an element's name from the array's name and the index, counted
        /// from 0.
        public static func custom(_ encode: @escaping @Sendable (_ name: String, _ index: Int) -> String)
            -> ArrayEncoding
        {
            ArrayEncoding(encode: encode)
        }
    }

    /// A strategy for Booleans.
    public struct BoolEncoding: Sendable {
        let encode: @Sendable (Bool) -> String

        /// `true` or `false`, the default.
        public static let literal = BoolEncoding { $0 ? "true" : "false" }
        /// `1` or `0`
        public static let numeric = BoolEncoding { $0 ? "1" : "0" }
    }

    /// A strategy for `Data`.
    public struct DataEncoding: Sendable {
        let encode: @Sendable (Data) throws -> String?

        /// Base64 text, the default ([RFC 4648 §4](https://www.rfc-editor.org/rfc/rfc4648#section-4)).
        public static let base64 = DataEncoding { $0.base64EncodedString() }
        /// An array of bytes. `Data` encodes itself in this form.
        public static let deferredToData = DataEncoding { _ in nil }
        /// Returns a custom strategy. `encode` makes the text.
        public static func custom(_ encode: @escaping @Sendable (Data) throws -> String) -> DataEncoding {
            DataEncoding { try encode($0) }
        }
    }

    /// A strategy that changes names before they are written.
    public struct KeyEncoding: Sendable {
        let encode: @Sendable (String) -> String
        var isIdentity = false

        /// Unchanged names, the default.
        public static let useDefaultKeys = KeyEncoding(encode: { $0 }, isIdentity: true)
        /// `oneTwoThree` becomes `one_two_three`, `myURLSession` becomes `my_url_session`, as `JSONEncoder` and
        /// `FastJSONEncoder` convert it.
        public static let convertToSnakeCase = KeyEncoding { $0.lowercasedWords(separator: "_") }
        /// `oneTwoThree` becomes `one-two-three`.
        public static let convertToKebabCase = KeyEncoding { $0.lowercasedWords(separator: "-") }
        /// `oneTwoThree` becomes `OneTwoThree`.
        public static let capitalized = KeyEncoding { $0.prefix(1).uppercased() + $0.dropFirst() }
        /// `oneTwoThree` becomes `ONETWOTHREE`.
        public static let uppercased = KeyEncoding { $0.uppercased() }
        /// `oneTwoThree` becomes `onetwothree`.
        public static let lowercased = KeyEncoding { $0.lowercased() }
        /// Returns a custom strategy. `encode` is called once for each name.
        public static func custom(_ encode: @escaping @Sendable (String) -> String) -> KeyEncoding {
            KeyEncoding(encode: encode)
        }
    }

    /// A strategy for joining the names of nested objects.
    public struct KeyPathEncoding: Sendable {
        let encode: @Sendable (_ parent: String, _ child: String) -> String

        /// `user[name]`, the default.
        public static let brackets = KeyPathEncoding { parent, child in "\(parent)[\(child)]" }
        /// `user.name`
        public static let dots = KeyPathEncoding { parent, child in "\(parent).\(child)" }
        /// Returns a custom strategy. `encode` makes a member's full name from its object's name and its own.
        public static func custom(
            _ encode: @escaping @Sendable (_ parent: String, _ child: String) -> String
        ) -> KeyPathEncoding {
            KeyPathEncoding(encode: encode)
        }
    }

    /// A strategy for nil values.
    public struct NilEncoding: Sendable {
        /// The text of the value. Nil drops the name too.
        let text: String?

        /// Neither name nor value, the default.
        public static let dropKey = NilEncoding(text: nil)
        /// `name=`
        public static let dropValue = NilEncoding(text: "")
        /// `name=null`
        public static let null = NilEncoding(text: "null")
        /// Returns a strategy that writes `name=` and this text.
        public static func custom(_ text: String) -> NilEncoding {
            NilEncoding(text: text)
        }
    }

    /// A strategy for spaces.
    public enum SpaceEncoding: Sendable {
        /// `%20`, the default.
        case percentEscaped
        /// `+`, as browsers write forms.
        case plusReplaced
    }
}
