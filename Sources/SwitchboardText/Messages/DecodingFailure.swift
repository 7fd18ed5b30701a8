import Foundation

/// Describes a `DecodingError`: its key path, the expected type, and the redacted beginning of the body.
package enum DecodingFailure {
    package static func describe(_ error: any Error, in body: Data) -> String {
        "\(cause(of: error)); the body (\(body.count) bytes) begins \(snippet(of: body))"
    }

    /// Returns the description without the body.
    package static func cause(of error: any Error) -> String {
        switch error {
        case DecodingError.typeMismatch(let type, let context):
            "\(place(context)): expected \(type), \(found(context))"
        case DecodingError.valueNotFound(let type, let context):
            "\(place(context)): expected \(type), found null or no value"
        case DecodingError.keyNotFound(let key, let context):
            "\((context.codingPath + [key]).pathText): expected a value, the key is missing"
        case DecodingError.dataCorrupted(let context):
            context.codingPath.isEmpty
                ? "not valid JSON\(underlying(context))" : "\(place(context)): \(sentence(context.debugDescription))"
        default:
            (error as? any LocalizedError)?.errorDescription ?? "\(type(of: error)): \(error.localizedDescription)"
        }
    }

    private static func place(_ context: DecodingError.Context) -> String {
        context.codingPath.isEmpty ? "top level" : context.codingPath.pathText
    }

    /// Returns a sentence as part of another one.
    private static func sentence(_ text: String) -> String {
        text.prefix(1).lowercased() + text.dropFirst().trimmingSuffix { $0 == "." }
    }

    /// Returns `found number` for "Expected to decode Int but found number instead."
    private static func found(_ context: DecodingError.Context) -> String {
        let text = context.debugDescription
        guard let start = text.range(of: "but found "),
            let end = text.range(of: " instead", range: start.upperBound..<text.endIndex)
        else { return sentence(text) }
        return "found " + text[start.upperBound..<end.lowerBound]
    }

    private static func underlying(_ context: DecodingError.Context) -> String {
        let detail = (context.underlyingError as NSError?)?.userInfo[NSDebugDescriptionErrorKey] as? String
        return detail.map { ": \(sentence($0))" } ?? ""
    }

    /// Returns the beginning of a body, redacted and in quotes.
    package static func snippet(of body: Data) -> String {
        // Longer than the displayed text, so that the cut does not halve a secret before it is redacted.
        let text = String(decoding: body.prefix(2_048), as: UTF8.self)
        return Redactor.standard.text(text).split { $0.isWhitespace }.joined(separator: " ").quotedForMessage
    }
}

extension StringProtocol {
    fileprivate func trimmingSuffix(while isPart: (Character) -> Bool) -> SubSequence {
        guard let last = lastIndex(where: { !isPart($0) }) else { return self[startIndex..<startIndex] }
        return self[...last]
    }
}

extension [any CodingKey] {
    /// The path as text: `results[3].title`.
    package var pathText: String {
        reduce(into: "") { text, key in
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
    }
}
