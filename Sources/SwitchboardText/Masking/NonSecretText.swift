/// Recognizes values of secret names that are no secrets: literals such as `null`, and messages such as `is invalid`.
enum NonSecretText {
    /// Returns whether the text is a word for true, false or nothing, as programs write it.
    static func isLiteral(_ text: ArraySlice<UInt8>) -> Bool {
        // The longest literal, and the blanks of an indented line after it.
        guard text.count < 128 else { return false }
        let words = text.split(whereSeparator: \.isSpace)
        return words.count == 1 && literals.contains(lowercased(words[0]))
    }

    /// Returns whether the text begins like the rest of a sentence: `it is too short`, but not `a8f5f167`.
    static func beginsMessage(_ text: ArraySlice<UInt8>) -> Bool {
        let text = text.drop { $0 == .quote || $0 == .apostrophe || $0 == .backslash }
        let word = text.prefix { $0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A }
        return word.count < 12 && sentenceWords.contains(lowercased(word))
            && text.dropFirst(word.count).first.map(ASCIISet.afterWord.contains) ?? true
    }

    /// Returns whether the whole text is the message of a validation: `required`, `must have at least 8 characters`.
    ///
    /// The first word is a verb, an adjective such as `invalid`, a literal such as `null`, or one of `not`, `no`,
    /// `too`, `this` and `the`. Each other word is known, or a number of at most three digits. A password of these
    /// words is unlikely. Words that people choose alone, such as `login`, are excluded.
    static func isMessage(_ text: ArraySlice<UInt8>) -> Bool {
        var isFirst = true
        for word in text.split(whereSeparator: { ASCIISet.betweenWords.contains($0) }) {
            guard word.count < 14 else { return false }
            let text = lowercased(word)
            let isNumber = word.count < 4 && word.allSatisfy { $0.isDigit }
            guard firstWords.contains(text) || !isFirst && (isNumber || laterWords.contains(text)) else { return false }
            isFirst = false
        }
        return !isFirst
    }

    private static func lowercased(_ word: ArraySlice<UInt8>) -> String {
        String(decoding: word, as: UTF8.self).lowercased()
    }

    private static let literals = "true false null nil none undefined".words

    /// Words that follow a name in messages.
    private static let sentenceWords = """
        a an are call can cannot check create does enter expected expired field get has invalid is it log login may missing \
        must no not please request required reset retry see set should sign the this too try use was you your
        """.words

    /// Words that begin a message about a value.
    private static let firstWords = literals.union(
        """
        is isn't are was has hasn't have must may can can't cannot could should does doesn't did didn't do don't needs \
        not no too this the required invalid missing expired revoked malformed incorrect wrong unknown unsupported
        """.words)

    /// Words within a message.
    private static let laterWords = """
        a an and already at be been blank but by character characters confirmation contain correct digit digits empty field \
        fields filled format found in include it least length letter letters long longer lowercase match maximum minimum \
        more most need of on one only optional or provided set short shorter special supplied supported symbol taken than \
        to uppercase valid value with
        """.words
}

extension ASCIISet {
    fileprivate static let betweenWords = ASCIISet(" \t\r\n,.;:!()\"")
    fileprivate static let afterWord = betweenWords.union(ASCIISet("'\\"))
}
