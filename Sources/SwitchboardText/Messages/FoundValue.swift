import Foundation

/// The value at the place of a decoding error, in words: `the number 7`, `an object with page, results`.
struct FoundValue {
    let text: String
    /// The string, if the value is one that is shown.
    let string: String?

    /// Describes the value at a place. A value that the excerpt masks is described by its kind alone.
    init(at place: JSONPlace, _ excerpt: BodyExcerpt?) {
        let value = place.value
        let shown = excerpt?.shows(value) == true ? value : nil
        string = place.byte == .quote ? shown?.jsonString : nil
        text =
            switch place.byte {
            case .leftBrace: "an object with \(Self.list(place.names ?? []))"
            case .leftBracket: "an array"
            case .rightBracket: "the end of the array"
            case .quote: string.map { "the string \($0.quotedForMessage)" } ?? "a string"
            case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"): String(decoding: value, as: UTF8.self)
            default: shown.map { "the number \(String(decoding: $0.prefix(40), as: UTF8.self))" } ?? "a number"
            }
    }

    /// Returns the first ten names of an object.
    static func list(_ names: [String]) -> String {
        guard !names.isEmpty else { return "no members" }
        let shown = names.prefix(10).map { name in
            let isPlain = !name.isEmpty && name.utf8.count <= 80 && name.utf8.allSatisfy(ASCIISet.plainName.contains)
            return isPlain ? name : name.quotedForMessage
        }
        return shown.joined(separator: ", ") + (names.count > 10 ? " and \(names.count - 10) more" : "")
    }
}

extension ASCIISet {
    fileprivate static let plainName = alphanumerics.union(ASCIISet("_-.$@"))
}
