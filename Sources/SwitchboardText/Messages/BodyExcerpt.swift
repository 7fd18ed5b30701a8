import Foundation

/// A short redacted part of a body around one place.
///
/// The redactor finds secrets by what precedes them. So it reads the text from a container far before the place, and the
/// excerpt is a part of its result.
struct BodyExcerpt {
    /// The redacted text before the place and from it on. Blanks and line breaks are single spaces.
    private let before: String
    private let rest: String

    /// Redacts a body around an index. Nil if the redactor changes the text so that the place is lost.
    ///
    /// - Parameters:
    ///   - body: The bytes of the body.
    ///   - index: The index of the place.
    ///   - containers: The indices at which the redactor may start, from outermost to innermost.
    ///   - isSecret: Whether the place is within a secret.
    init?(of body: Data, at index: Data.Index, containers: [Data.Index], isSecret: Bool = false) {
        let starts = [body.startIndex] + containers
        guard !isSecret, let start = starts.first(where: { index - $0 <= 16_384 }) else { return nil }
        // Longer than the displayed text, so that the cut does not halve a secret before it is redacted.
        let end = Swift.min(index + 2_048, body.endIndex)
        before = Self.redacted(body[start..<index])
        let whole = Self.redacted(body[start..<end])
        guard whole.hasPrefix(before) else { return nil }
        rest = String(whole.dropFirst(before.count))
    }

    /// Returns the redacted text with single spaces.
    static func redacted(_ text: Data) -> String {
        spaced(Redactor.standard.text(String(decoding: text, as: UTF8.self)))
    }

    private static func spaced(_ text: String) -> String {
        text.split { $0.isWhitespace }.joined(separator: " ")
    }

    /// Returns whether the excerpt shows this text at the place, without a mask.
    func shows(_ text: Data) -> Bool {
        rest.drop { $0 == " " }.hasPrefix(Self.spaced(String(decoding: text.prefix(1_024), as: UTF8.self)))
    }

    /// The excerpt in quotes.
    var quoted: String {
        let lead = before.suffix(24)
        return ((lead.count < before.count ? "…" : "") + lead + rest).quotedForMessage
    }
}
