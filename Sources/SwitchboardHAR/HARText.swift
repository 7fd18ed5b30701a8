import Foundation
import Switchboard
import SwitchboardText

/// Bytes as the text that stands for them in an archive.
package enum HARText {
    /// The bytes themselves when they are readable text in UTF-8, or base64 with its name.
    package static func text(_ data: Data, type: String) -> (text: String, encoding: String?) {
        guard let text = data.readableText, !type.isLatin1 || text.utf8.allSatisfy({ $0 < 0x80 }) else {
            return (data.base64EncodedString(), "base64")
        }
        return (text, nil)
    }

    /// The bytes that a text stands for; nil for base64 that is none.
    package static func data(_ text: String, encoding: String?, type: String) -> Data? {
        if encoding == "base64" { return Data(base64Encoded: text.filter { !$0.isWhitespace }) }
        // An archive's text is Unicode; the bytes have the charset that their type names.
        if type.isLatin1, let data = text.data(using: .isoLatin1) { return data }
        return Data(text.utf8)
    }
}

extension HAR {
    /// The archive as JSON, in a form in which a small change makes a small difference.
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
        if let text { return HARText.data(text, encoding: encoding, type: mimeType) ?? Data() }
        let pairs = (params ?? []).map { "\($0.name.formEscaped)=\($0.value.formEscaped)" }
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

    /// Whether there was a body that the archive does not have.
    package var isMissing: Bool { text == nil && size > 0 }
}

extension Data {
    /// The text in UTF-8 that these bytes are, nil when they are anything else.
    package var exactText: String? {
        let text = String(decoding: self, as: UTF8.self)
        return Data(text.utf8) == self ? text : nil
    }

    /// ``exactText`` that a person can read: without control characters but those that end lines and indent, and
    /// without a byte-order mark, which readers take off.
    fileprivate var readableText: String? {
        guard !starts(with: [0xEF, 0xBB, 0xBF]) else { return nil }
        return allSatisfy { $0 >= 0x20 && $0 != 0x7F || 0x09...0x0D ~= $0 } ? exactText : nil
    }
}

extension String {
    fileprivate var isLatin1: Bool {
        ["iso-8859-1", "latin1", "latin-1"].contains(mediaParameter("charset")?.lowercased() ?? "")
    }

    fileprivate var formEscaped: String {
        addingPercentEncoding(withAllowedCharacters: .urlUnreserved) ?? self
    }
}
