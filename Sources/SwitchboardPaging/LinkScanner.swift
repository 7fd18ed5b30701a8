import Foundation
import Switchboard
import SwitchboardText

/// Parses one `Link` field from left to right, each byte once.
struct LinkScanner {
    private let bytes: [UInt8]
    private var index = 0

    init(_ field: String) {
        bytes = Array(field.utf8)
    }

    mutating func links() -> [LinkValue] {
        var links: [LinkValue] = []
        while true {
            skipBlanks()
            guard let first = current else { return links }
            if first == UInt8(ascii: "<") {
                index += 1
                let reference = text { $0 == UInt8(ascii: ">") }
                guard current != nil else { return links }
                index += 1
                links.append(LinkValue(reference: reference, parameters: parameters()))
            }
            skipToComma()
        }
    }

    /// Parses the parameters (RFC 8288 appendix B.3).
    private mutating func parameters() -> [WebLink.Parameter] {
        var parameters: [WebLink.Parameter] = []
        while true {
            skipBlanks()
            guard current == .semicolon else { return parameters }
            index += 1
            skipBlanks()
            let name = text { $0.isLinkBlank || $0 == .equals || $0 == .semicolon || $0 == .comma }
            skipBlanks()
            var value = ""
            if current == .equals {
                index += 1
                skipBlanks()
                value = current == .quote ? quoted() : text { $0 == .semicolon || $0 == .comma }.trimmedOfBlanks
            }
            if !name.isEmpty { parameters.append(WebLink.Parameter(name: name.lowercased(), value: value)) }
        }
    }

    /// Parses a quoted string (RFC 8288 appendix B.4).
    private mutating func quoted() -> String {
        var output: [UInt8] = []
        index += 1
        while let byte = current, byte != .quote {
            if byte == .backslash { index += 1 }
            if let byte = current { output.append(byte) }
            index += 1
        }
        index += 1
        return String(decoding: output, as: UTF8.self)
    }

    /// Moves past the next comma outside of quotes.
    private mutating func skipToComma() {
        while let byte = current {
            if byte == .quote {
                _ = quoted()
                continue
            }
            index += 1
            if byte == .comma { return }
        }
    }

    private mutating func text(until isEnd: (UInt8) -> Bool) -> String {
        let start = index
        while let byte = current, !isEnd(byte) { index += 1 }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    private mutating func skipBlanks() {
        while current?.isLinkBlank == true { index += 1 }
    }

    private var current: UInt8? { index < bytes.count ? bytes[index] : nil }
}

extension UInt8 {
    fileprivate var isLinkBlank: Bool { self == 0x20 || self == 0x09 }
}
