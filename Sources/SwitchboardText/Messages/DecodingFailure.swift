import Foundation

/// An error whose `errorDescription` is a text for a person, without the cause.
package protocol DescribedByReason: LocalizedError {}

/// Describes a `DecodingError`: its key path, the expected type, the value in the body, and its position.
package enum DecodingFailure {
    /// Returns the description, with a redacted part of the body around the value.
    ///
    /// - Parameters:
    ///   - error: The error of any decoder.
    ///   - body: The bytes that did not decode.
    ///   - type: The expected type of the whole body, if known.
    ///   - name: The name of the body in the text.
    /// - Returns: The description, in one line unless the text of the decoder or of a type has several.
    package static func describe(
        _ error: any Error, in body: Data, as type: Any.Type? = nil, called name: String = "the body"
    ) -> String {
        let whole = "\(name) (\(body.count.counted("byte")))"
        if let error = error as? DecodingError {
            let context = error.context
            if let fault = fault(in: context) {
                if let text = syntax(fault, context, in: body, whole) { return text }
            } else if let location = JSONLocation(of: context.codingPath, in: body),
                !error.mayLackPath || location.isScalar
            {
                return mismatch(error, at: location, type, whole)
            }
        }
        return "\(cause(of: error)); \(whole) begins \(snippet(of: body))"
    }

    /// Returns the description without the body.
    package static func cause(of error: any Error) -> String {
        cause(of: error, as: nil, found: nil)
    }

    /// Returns the beginning of a body, redacted and in quotes.
    package static func snippet(of body: Data) -> String {
        // Longer than the displayed text, so that the cut does not halve a secret before it is redacted.
        BodyExcerpt.redacted(body.prefix(2_048)).quotedForMessage
    }

    /// Returns whether a decoder of JSON could not parse the text.
    package static func isInvalidJSON(_ error: any Error) -> Bool {
        guard case DecodingError.dataCorrupted(let context) = error else { return false }
        return context.isInvalidJSON
    }

    /// Returns whether a decoder could parse the text, which lacks a value or has one of another type.
    package static func isMismatch(_ error: any Error) -> Bool {
        switch error {
        case DecodingError.keyNotFound, DecodingError.typeMismatch, DecodingError.valueNotFound: true
        default: false
        }
    }

    private static func mismatch(
        _ error: DecodingError, at location: JSONLocation, _ type: Any.Type?, _ whole: String
    ) -> String {
        let position = "at \(position(of: location.index, in: location.text)) of \(whole)"
        if case .keyNotFound(let key, _) = error, let names = location.names {
            return "\(cause(of: error)); the object \(position) has \(FoundValue.list(names))"
                + snakeCaseHint(for: key.stringValue, among: names)
        }
        let excerpt = BodyExcerpt(
            of: location.text, at: location.index, containers: location.containers, isSecret: error.context.isSecret)
        return "\(cause(of: error, as: type, found: FoundValue(at: location, excerpt))) \(position)"
            + (excerpt.map { ", near \($0.quoted)" } ?? "")
    }

    private static func syntax(
        _ fault: String, _ context: DecodingError.Context, in body: Data, _ whole: String
    ) -> String? {
        guard let offset = offset(of: fault, context), (0...body.count).contains(offset),
            let excerpt = BodyExcerpt(of: body, at: body.startIndex + offset, containers: [])
        else { return nil }
        let position = position(of: body.startIndex + offset, in: body)
        return "\(syntax(context)): \(withoutPosition(fault)) at \(position) of \(whole), near \(excerpt.quoted)"
    }

    private static func cause(of error: any Error, as type: Any.Type?, found: FoundValue?) -> String {
        switch error {
        case DecodingError.typeMismatch(let expected, let context):
            "\(keyPath(context)): expected \(words(for: expected, context, type)), "
                + (found.map { "found \($0.text)" } ?? Self.found(context))
        case DecodingError.valueNotFound(let expected, let context):
            "\(keyPath(context)): expected \(words(for: expected, context, type)), "
                + "found \(found?.text ?? "null or no value")"
        case DecodingError.keyNotFound(let key, let context):
            "\((context.codingPath + [key]).pathText): expected a value, the key is missing"
        case DecodingError.dataCorrupted(let context):
            if let fault = fault(in: context) {
                "\(syntax(context)): \(fault)"
            } else {
                (context.codingPath.isEmpty ? "" : "\(keyPath(context)): ") + rule(context, found)
            }
        default:
            ((error as? any DescribedByReason)?.failureReason ?? (error as? any LocalizedError)?.errorDescription)
                .map(withoutPeriod)
                ?? "\(Swift.type(of: error)): \(error.localizedDescription)"
        }
    }

    private static func keyPath(_ context: DecodingError.Context) -> String {
        context.codingPath.isEmpty ? "top level" : context.codingPath.pathText
    }

    private static func syntax(_ context: DecodingError.Context) -> String {
        (context.codingPath.isEmpty ? "" : "\(context.codingPath.pathText): ") + "not valid JSON"
    }

    private static func words(for expected: Any.Type, _ context: DecodingError.Context, _ type: Any.Type?) -> String {
        let whole = context.codingPath.isEmpty ? type.map { " for \(TypeText.text(of: $0))" } ?? "" : ""
        if expected == [Any].self { return "an array\(whole)" }
        if expected == [String: Any].self { return "an object\(whole)" }
        return TypeText.text(of: expected)
    }

    /// Returns the rule that a value broke. Rules for numbers already contain the value.
    private static func rule(_ context: DecodingError.Context, _ found: FoundValue?) -> String {
        // The text of a decoder or a type may contain the value.
        if context.isSecret { return "the value is not valid" }
        let text = sentence(context.debugDescription)
        guard let found else { return text == "the given data was not valid JSON" ? "not valid JSON" : text }
        let isNew = found.string.map { !text.contains($0) } ?? false
        return withoutPosition(text) + (isNew ? ", found \(found.text)" : "")
    }

    private static func sentence(_ text: String) -> String {
        text.prefix(1).lowercased() + withoutPeriod(text).dropFirst()
    }

    private static func withoutPeriod(_ text: String) -> String {
        var text = text
        while text.last == "." { text.removeLast() }
        return text
    }

    /// Returns `found a number` for "Expected to decode Int but found number instead."
    private static func found(_ context: DecodingError.Context) -> String {
        let text = context.debugDescription
        guard let start = text.range(of: "but found "),
            let end = text.range(of: " instead", range: start.upperBound..<text.endIndex)
        else { return context.isSecret ? "another value" : sentence(text) }
        let kind = String(text[start.upperBound..<end.lowerBound])
        let name = ["a dictionary": "an object", "number": "a number", "bool": "a Boolean"][kind]
        return "found \(name ?? (context.isSecret ? "another value" : kind))"
    }

    /// Returns a hint for a key that is missing only because its name is in snake case.
    private static func snakeCaseHint(for key: String, among names: [String]) -> String {
        guard let name = names.first(where: { $0 != key && $0.camelCased == key }) else { return "" }
        return "; keyDecodingStrategy = .convertFromSnakeCase reads \(name) as \(key)"
    }

    /// Returns the parser's message about a text that is not JSON. Nil for other errors.
    private static func fault(in context: DecodingError.Context) -> String? {
        // Property lists and types of an app have such a detail too, which may contain a secret.
        guard context.isInvalidJSON else { return nil }
        let detail = (context.underlyingError as NSError?)?.userInfo[NSDebugDescriptionErrorKey] as? String
        return detail.map(sentence)
    }

    /// Returns the byte offset of a fault. `FastJSONDecoder` has it in the text, Foundation as a value.
    private static func offset(of fault: String, _ context: DecodingError.Context) -> Int? {
        if let start = fault.range(of: "(byte ", options: .backwards) {
            return Int(fault[start.upperBound...].dropLast())
        }
        return (context.underlyingError as NSError?)?.userInfo["NSJSONSerializationErrorIndex"] as? Int
    }

    /// Returns a text without a position at its end: `, at line 1, column 7 (byte 6)` or ` around line 1, column 7`.
    private static func withoutPosition(_ text: String) -> String {
        for start in [", at line ", " at line ", " around line "] {
            if let range = text.range(of: start, options: .backwards) { return String(text[..<range.lowerBound]) }
        }
        return text
    }

    /// Returns `line 1, column 7`. Both count from 1, columns in characters of Unicode.
    private static func position(of index: Data.Index, in text: Data) -> String {
        let before = text[..<index]
        let start = before.lastIndex(of: .lineFeed).map { $0 + 1 } ?? before.startIndex
        let line = before.lazy.filter { $0 == .lineFeed }.count + 1
        return "line \(line), column \(before[start...].lazy.filter { $0 & 0xC0 != 0x80 }.count + 1)"
    }
}

extension DecodingError {
    package var context: Context {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
            .dataCorrupted(let context):
            context
        @unknown default: Context(codingPath: [], debugDescription: localizedDescription)
        }
    }

    /// Whether the path may be missing, as in Foundation's errors about dates.
    fileprivate var mayLackPath: Bool {
        guard case .dataCorrupted(let context) = self else { return false }
        return context.codingPath.isEmpty
    }
}

extension DecodingError.Context {
    /// Whether the text of a decoder of JSON, of this package or of Foundation, says that the JSON is broken.
    fileprivate var isInvalidJSON: Bool { debugDescription.hasPrefix("The given data was not valid JSON") }

    /// Whether a name on the path is that of a secret.
    fileprivate var isSecret: Bool { codingPath.contains { Redactor.standard.isSecret(member: $0.stringValue) } }
}

extension [any CodingKey] {
    /// The path as text: `results[3].title`. Of more than 32 keys, the first and the last eight.
    package var pathText: String {
        guard count > 32 else { return text }
        return Array(prefix(8)).text + "…" + Array(suffix(8)).text
    }

    private var text: String {
        reduce(into: "") { text, key in
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += (text.isEmpty ? "" : ".") + key.stringValue.shortForMessage
            }
        }
    }
}

/// The value at the location of a decoding error, in words: `the number 7`, `an object with page, results`.
struct FoundValue {
    let text: String
    /// The string, if the value is one that is shown.
    let string: String?

    /// Describes the value at a location. For a masked value it gives only the kind.
    init(at location: JSONLocation, _ excerpt: BodyExcerpt?) {
        let value = location.value
        let shown = excerpt?.shows(value) == true ? value : nil
        string = location.byte == .quote ? shown?.jsonString : nil
        text =
            switch location.byte {
            case .leftBrace: "an object with \(Self.list(location.names ?? []))"
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

/// A short redacted part of a body around one index.
///
/// The redactor finds secrets by the text before them. So it reads the body from a container far before the index, and
/// the excerpt is a part of its result.
struct BodyExcerpt {
    /// The redacted text before and after the index. Blanks and line breaks are single spaces.
    private let before: String
    private let rest: String

    /// Redacts a body around an index. Nil if the index has no counterpart in the redacted text.
    ///
    /// - Parameters:
    ///   - body: The bytes of the body.
    ///   - index: The index in the body.
    ///   - containers: The indices at which the redactor may start, from outermost to innermost.
    ///   - isSecret: Whether the index is within a secret.
    init?(of body: Data, at index: Data.Index, containers: [Data.Index], isSecret: Bool = false) {
        let starts = [body.startIndex] + containers
        guard !isSecret, let start = starts.first(where: { index - $0 <= 16_384 }) else { return nil }
        // Longer than the displayed text, so that the cut does not halve a secret before it is redacted.
        let end = Swift.min(index + 2_048, body.endIndex)
        before = Self.redacted(body[start..<index])
        let whole = Self.redacted(body[start..<end])
        guard whole.utf8.starts(with: before.utf8) else { return nil }
        rest = String(decoding: whole.utf8.dropFirst(before.utf8.count), as: UTF8.self)
    }

    /// Returns the redacted text with single spaces.
    static func redacted(_ text: Data) -> String {
        spaced(Redactor.standard.text(String(decoding: text, as: UTF8.self)))
    }

    private static func spaced(_ text: String) -> String {
        text.unicodeScalars.split { $0.properties.isWhitespace }.map { String($0) }.joined(separator: " ")
    }

    /// Returns whether the excerpt shows this text at the index, without a mask.
    func shows(_ text: Data) -> Bool {
        let text = Self.spaced(String(decoding: text.prefix(1_024), as: UTF8.self))
        return rest.utf8.drop { $0 == .space }.starts(with: text.utf8)
    }

    /// The excerpt in quotes.
    var quoted: String {
        let lead = before.suffix(24)
        return ((lead.count < before.count ? "…" : "") + lead + rest).quotedForMessage
    }
}

/// Writes types as code does: `[Film]` for `Array<Film>`, and `Film?` for `Optional<Film>`.
package enum TypeText {
    package static func text(of type: Any.Type) -> String {
        (type as? any Sugared.Type)?.sugar ?? String(describing: type)
    }
}

private protocol Sugared {
    static var sugar: String { get }
}

extension Array: Sugared {
    fileprivate static var sugar: String { "[\(TypeText.text(of: Element.self))]" }
}

extension Dictionary: Sugared {
    fileprivate static var sugar: String { "[\(TypeText.text(of: Key.self)): \(TypeText.text(of: Value.self))]" }
}

extension Optional: Sugared {
    fileprivate static var sugar: String { "\(TypeText.text(of: Wrapped.self))?" }
}
