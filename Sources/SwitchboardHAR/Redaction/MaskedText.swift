import Foundation
import Switchboard
import SwitchboardText

/// Text with masks, each of which matches any text.
package struct MaskedText {
    /// The parts around the masks.
    private let pieces: [Data]

    package init(_ text: String, mask: String) {
        self.init(Data(text.utf8), mask: mask)
    }

    package init(_ text: Data, mask: String) {
        pieces = text.pieces(around: Data(mask.utf8))
    }

    /// Returns whether a text equals this one with any text, even an empty one, in place of each mask.
    package func matches(_ text: Data) -> Bool {
        guard let first = pieces.first, let last = pieces.last else { return false }
        guard pieces.count > 1 else { return text == first }
        guard text.count >= first.count + last.count, text.starts(with: first), text.suffix(last.count) == last else {
            return false
        }
        var rest = text.dropFirst(first.count).dropLast(last.count)
        for piece in pieces.dropFirst().dropLast() where !piece.isEmpty {
            guard let range = rest.firstPlace(of: piece) else { return false }
            rest = rest[range.upperBound...]
        }
        return true
    }

    /// Returns the parts of the original text that the masks hide, as far as they can be determined.
    package func hidden(in text: String) -> [String] {
        var rest = Data(text.utf8)
        guard let first = pieces.first, rest.starts(with: first) else { return [] }
        rest = rest.dropFirst(first.count)
        var hidden: [String] = []
        for (index, piece) in pieces.enumerated().dropFirst() {
            var end = rest.startIndex..<rest.startIndex
            if index == pieces.count - 1 {
                guard rest.count >= piece.count, rest.suffix(piece.count) == piece else { return hidden }
                end = rest.endIndex - piece.count..<rest.endIndex
            } else if !piece.isEmpty {
                guard let range = rest.firstPlace(of: piece) else { return hidden }
                end = range
            }
            hidden.append(String(decoding: rest[..<end.lowerBound], as: UTF8.self))
            rest = rest[end.upperBound...]
        }
        return hidden
    }
}
