import Foundation
import Switchboard
import SwitchboardText

/// Converts between bytes and their text in an archive.
package enum HARText {
    /// Returns the bytes as text when they are readable UTF-8 and ``data(_:encoding:type:)`` returns them again,
    /// otherwise as base64 with that encoding's name.
    package static func text(_ data: Data, type: String) -> (text: String, encoding: String?) {
        guard let text = data.readableText, type.charset == nil || Self.data(text, encoding: nil, type: type) == data
        else {
            return (data.base64EncodedString(), "base64")
        }
        return (text, nil)
    }

    /// Returns the bytes of a text, or nil for invalid base64.
    package static func data(_ text: String, encoding: String?, type: String) -> Data? {
        if encoding == "base64" { return Data(base64Encoded: text.filter { !$0.isWhitespace }) }
        // An archive's text is Unicode. The original bytes had the charset of their type. Browsers decode ISO 8859-1 as
        // windows-1252 (https://encoding.spec.whatwg.org/#names-and-labels).
        guard let charset = type.charset else { return Data(text.utf8) }
        return text.data(using: charset == .utf16 ? .utf16BigEndian : charset)
            ?? (charset == .isoLatin1 ? text.data(using: .windowsCP1252) : nil) ?? Data(text.utf8)
    }
}

extension HAR {
    /// The archive as JSON, formatted so that a small change makes a small difference.
    package var data: Data {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return try encoder.encode(self)
        }
    }
}

extension HAR.PostData {
    package init(_ data: Data, mimeType: String) {
        let (text, encoding) = HARText.text(data, type: mimeType)
        self.init(mimeType: mimeType, text: text, encoding: encoding)
    }

    package var data: Data {
        if let text, !text.isEmpty { return HARText.data(text, encoding: encoding, type: mimeType) ?? Data() }
        let pairs = (params ?? []).map { "\($0.name.percentEncoded())=\($0.value.percentEncoded())" }
        return Data(pairs.joined(separator: "&").utf8)
    }
}

extension HAR.Content {
    package init(_ data: Data, mimeType: String, size: Int? = nil) {
        self.init(size: size ?? data.count, mimeType: mimeType)
        if !data.isEmpty { (text, encoding) = HARText.text(data, type: mimeType) }
    }

    package var data: Data {
        text.flatMap { HARText.data($0, encoding: encoding, type: mimeType) } ?? Data()
    }

    /// Whether the archive lacks the body that the response had.
    package var isMissing: Bool { text == nil && size != 0 }
}

extension Data {
    /// The bytes as text, or nil when they are not valid UTF-8.
    package var exactText: String? {
        let text = String(decoding: self, as: UTF8.self)
        return Data(text.utf8) == self ? text : nil
    }

    /// The encodings in which the bytes may be text: UTF-16 or UTF-32 by their first bytes or their type, and UTF-8, or
    /// ISO 8859-1 for other bytes that are declared as text or have no control characters. Empty for bytes that are not
    /// text.
    func encodings(ofType type: String) -> [String.Encoding] {
        let isUTF8 = exactText != nil
        let isLatin1 = !isUTF8 && (type.isText || allSatisfy(\.isReadable))
        return [wideEncoding(ofType: type), isUTF8 ? .utf8 : isLatin1 ? .isoLatin1 : nil].compactMap(\.self)
    }

    /// The length of the whole characters in UTF-16 or UTF-32. A lost connection may cut the last one.
    func wholeLength(in encoding: String.Encoding) -> Int {
        switch encoding {
        case .utf32LittleEndian, .utf32BigEndian: return count - count % 4
        case .utf16LittleEndian, .utf16BigEndian:
            let length = count - count % 2
            guard length > 0 else { return 0 }
            let high = self[startIndex + length - (encoding == .utf16BigEndian ? 2 : 1)]
            return 0xD8...0xDB ~= high ? length - 2 : length
        default: return count
        }
    }

    /// The bytes as text. Nil unless the text has these bytes again.
    func text(in encoding: String.Encoding) -> String? {
        guard encoding != .utf8 else { return exactText }
        guard let text = String(data: self, encoding: encoding), text.data(using: encoding) == self else { return nil }
        return text
    }

    /// UTF-16 or UTF-32 if the first bytes are a byte-order mark or an ASCII character in it (RFC 4627 §3), or UTF-16 by
    /// the type.
    func wideEncoding(ofType type: String) -> String.Encoding? {
        if let encoding = wideEncoding { return encoding }
        guard let charset = type.charset, charset != .isoLatin1 else { return nil }
        // Without a byte-order mark (RFC 2781 §4.3).
        return charset == .utf16 ? .utf16BigEndian : charset
    }

    private var wideEncoding: String.Encoding? {
        let bytes = Array(prefix(4))
        guard bytes.count > 1 else { return nil }
        let zeros = bytes.map { $0 == 0 }
        if bytes == [0xFF, 0xFE, 0, 0] || zeros == [false, true, true, true] { return .utf32LittleEndian }
        if bytes == [0, 0, 0xFE, 0xFF] || zeros == [true, true, true, false] { return .utf32BigEndian }
        if bytes[..<2] == [0xFF, 0xFE] || zeros[..<2] == [false, true] { return .utf16LittleEndian }
        if bytes[..<2] == [0xFE, 0xFF] || zeros[..<2] == [true, false] { return .utf16BigEndian }
        return nil
    }

    /// ``exactText`` that a person can read. Nil for control characters other than line ends and tabs, and for a
    /// byte-order mark, which decoders remove.
    fileprivate var readableText: String? {
        guard !starts(with: [0xEF, 0xBB, 0xBF]) else { return nil }
        return allSatisfy(\.isReadable) ? exactText : nil
    }
}

extension UInt8 {
    /// Whether the byte is no control character, or is a line end or a tab.
    fileprivate var isReadable: Bool { self >= 0x20 && self != 0x7F || 0x09...0x0D ~= self }
}

extension String {
    /// Whether a `Content-Type` is of text: a form, JSON, XML or any `text` type.
    fileprivate var isText: Bool {
        let type = mediaType
        return isForm || type.hasPrefix("text/") || type.hasSuffix("json") || type.hasSuffix("xml")
    }
}
