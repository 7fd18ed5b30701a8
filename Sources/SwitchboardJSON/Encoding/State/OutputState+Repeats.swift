extension OutputState {
    /// Writes the members or elements of an earlier value into the open object or array, which replaces it. Writes
    /// nothing when the earlier value is of another kind.
    mutating func repeatValue(_ range: Range<Int>) {
        let text = Array(UnsafeBufferPointer(rebasing: bytes.buffer[range]))
        let isObject = top.kind == .object
        guard text.first == (isObject ? UInt8(ascii: "{") : UInt8(ascii: "[")) else { return }
        let serial = top.serial
        // The value may contain the texts of other writers. An element that is one has no bytes here.
        var inserted = Array(
            insertions[...].fromFirst(after: range.lowerBound).prefix { $0.position < range.upperBound })[...]
        for part in Self.parts(of: text) {
            var value = part
            if isObject {
                let end = Self.endOfName(in: text, part.lowerBound)
                let start = range.lowerBound + part.lowerBound
                let name = bytes.name(in: start + 1..<range.lowerBound + end)
                _ = beginMember(name, in: serial)
                let valueStart = end + 1 + colonWidth
                value = valueStart..<max(valueStart, part.upperBound)
            } else {
                if part.isEmpty, let first = inserted.first { value = Self.empty(first.position - range.lowerBound) }
                guard !value.isEmpty || !inserted.isEmpty else { continue }
                _ = beginElement(in: serial)
            }
            let shift = bytes.count - range.lowerBound - value.lowerBound
            text.withUnsafeBufferPointer { bytes.append(UnsafeBufferPointer(rebasing: $0[value])) }
            while let insertion = inserted.first, insertion.position - range.lowerBound <= value.upperBound {
                insertions.append((insertion.position + shift, insertion.writer))
                inserted.removeFirst()
            }
        }
    }

    private static func empty(_ position: Int) -> Range<Int> { position..<position }

    /// Returns the ranges of the members or elements of an object or array, without the white space around them.
    private static func parts(of text: [UInt8]) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var (start, depth, index) = (1, 0, 0)
        func end(at end: Int) {
            var (first, last) = (start, end)
            while first < last, text[first] <= 0x20 { first += 1 }
            while first < last, text[last - 1] <= 0x20 { last -= 1 }
            parts.append(first..<last)
            start = end + 1
        }
        while index < text.count {
            switch text[index] {
            case UInt8(ascii: "\""): index = endOfName(in: text, index)
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ",") where depth == 1: end(at: index)
            default: break
            }
            index += 1
        }
        end(at: text.count - 1)
        // An object without members has one empty part.
        return text.first == UInt8(ascii: "{") && parts == [parts[0].lowerBound..<parts[0].lowerBound] ? [] : parts
    }

    /// Returns the index of the quotation mark that ends the string which begins at an index.
    private static func endOfName(in text: [UInt8], _ start: Int) -> Int {
        var index = start + 1
        while text[index] != UInt8(ascii: "\"") { index += text[index] == UInt8(ascii: "\\") ? 2 : 1 }
        return index
    }
}
