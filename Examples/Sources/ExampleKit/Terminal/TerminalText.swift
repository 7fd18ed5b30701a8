extension String {
    /// The number of terminal cells that this text occupies.
    package var displayWidth: Int { reduce(0) { $0 + $1.displayWidth } }

    /// The text without characters that break a line, move the cursor or change the writing direction. Text from a
    /// server may contain them.
    package var onOneLine: String {
        var result = UnicodeScalarView()
        for scalar in unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: result.append(" ")
            default: if !scalar.properties.isBidiControl { result.append(scalar) }
            }
        }
        return String(result)
    }

    /// Returns this text, cut to `width` cells with an ellipsis if it is wider.
    package func cut(to width: Int) -> String {
        guard displayWidth > width else { return self }
        var cut = ""
        var room = width - 1
        for character in self {
            room -= character.displayWidth
            guard room >= 0 else { break }
            cut.append(character)
        }
        return cut + "…"
    }
}

extension Character {
    /// 2 for East Asian wide characters and emoji, 0 for a combining mark without a base, 1 for the rest.
    fileprivate var displayWidth: Int {
        guard let first = unicodeScalars.first else { return 0 }
        if first.properties.isEmojiPresentation || unicodeScalars.contains("\u{FE0F}") { return 2 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: return wideRanges.contains { $0.contains(first.value) } ? 2 : 1
        }
    }
}

/// The wide blocks of [Unicode Standard Annex 11](https://www.unicode.org/reports/tr11/), simplified.
private let wideRanges: [ClosedRange<UInt32>] = [
    0x1100...0x115F,  // Hangul initial consonants
    0x2E80...0x303E, 0x3041...0xA4CF,  // CJK, kana, bopomofo, Yi
    0xA960...0xA97F, 0xAC00...0xD7A3,  // Hangul
    0xF900...0xFAFF, 0xFE30...0xFE6F,  // CJK compatibility
    0xFF00...0xFF60, 0xFFE0...0xFFE6,  // fullwidth forms
    0x20000...0x3FFFD,  // CJK extensions
]
