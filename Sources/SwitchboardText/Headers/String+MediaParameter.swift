import Foundation

extension String {
    /// Returns a parameter of a `Content-Type` without its quotes, or nil if it is missing.
    package func mediaParameter(_ name: String) -> String? {
        var rest = utf8.drop { $0 != .semicolon }
        while rest.popFirst() != nil {
            let written = rest.prefix { $0 != .equals && $0 != .semicolon }
            rest = rest[written.endIndex...]
            guard rest.popFirst(if: .equals) else { continue }
            rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
            var value: [UInt8] = []
            let isQuoted = rest.popFirst(if: .quote)
            while let byte = rest.first, byte != (isQuoted ? .quote : .semicolon) {
                rest.removeFirst()
                value.append(isQuoted && byte == .backslash ? rest.popFirst() ?? byte : byte)
            }
            if isQuoted { rest = rest.drop { $0 != .semicolon } }
            guard String(decoding: written.trimmedOfBlanks, as: UTF8.self).lowercased() == name else { continue }
            return String(decoding: isQuoted ? value[...] : value.trimmedOfBlanks, as: UTF8.self)
        }
        return nil
    }

    /// The names of a part in its `Content-Disposition`, which may be folded: `name`, and `name*` as in
    /// `name*=UTF-8''caf%C3%A9` ([RFC 8187](https://www.rfc-editor.org/rfc/rfc8187)).
    package var dispositionNames: [String] {
        let line = String(decoding: utf8.map { $0 == 0x0D || $0 == 0x0A ? 0x20 : $0 }, as: UTF8.self)
        let extended = line.mediaParameter("name*")?.pieces(between: UInt8(ascii: "'")).last?.removingPercentEncoding
        return [line.mediaParameter("name"), extended].compactMap { $0 }
    }
}

extension Substring.UTF8View {
    /// Removes the first byte if it is `byte`, and returns whether it was.
    fileprivate mutating func popFirst(if byte: UInt8) -> Bool {
        guard first == byte else { return false }
        removeFirst()
        return true
    }
}
