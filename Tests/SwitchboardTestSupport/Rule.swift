import Testing

/// A sentence of an RFC that a test proves, see `Tests/CACHE-RULES.md`. `scripts/check/requirements` reads it in the
/// sources.
public struct Rule: TestTrait {
    /// The RFC and the section, such as `RFC 9111 §4.2.4`.
    public let section: String
    /// The words of the sentence. An ellipsis marks left out words.
    public let sentence: String
}

extension Trait where Self == Rule {
    /// Quotes the sentence that the test proves.
    public static func rule(_ section: String, _ sentence: String) -> Self {
        Rule(section: section, sentence: sentence)
    }
}
