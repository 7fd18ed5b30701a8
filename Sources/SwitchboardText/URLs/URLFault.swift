import Foundation

/// Finds the reason why no request can be sent to a URL.
package enum URLFault {
    /// Returns the reason, such as "has no host", or nil if requests can be sent to the URL.
    package static func of(_ url: URL) -> String? {
        var text = url.absoluteString
        return text.withUTF8(of)
    }

    /// Returns the reason for a text that may not be a URL. Nil does not mean that its path and query are valid.
    package static func of(_ text: String) -> String? {
        var text = text
        return text.withUTF8(of)
    }

    private static func of(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
        if isCommonForm(bytes) { return nil }
        if bytes.isEmpty { return "is empty" }
        if let first = bytes.first, first <= 0x20 { return "begins with \(first.nameForMessage)" }
        guard let colon = bytes.firstIndex(of: .colon), bytes[0] != .leftBracket else { return noScheme(bytes) }
        let scheme = bytes[..<colon]
        guard scheme.equalsLowercase("https") || scheme.equalsLowercase("http") else {
            // In `localhost:8080`, a port follows the colon.
            let port = bytes[(colon + 1)...].prefix { !$0.endsAuthority }
            let isPort = UInt16(String(decoding: port, as: UTF8.self)) != nil
            if isPort { return noScheme(bytes) }
            return "has a scheme other than http and https" + (webSocketCorrection(bytes, after: colon) ?? "")
        }
        guard bytes.count > colon + 2, bytes[colon + 1] == .slash, bytes[colon + 2] == .slash else {
            return oneSlashCorrection(bytes, after: colon) ?? "has no host"
        }
        var host = colon + 3
        var port: Int?
        var end = host
        while end < bytes.count {
            let byte = bytes[end]
            if byte.endsAuthority { break }
            end += 1
            if byte == UInt8(ascii: "@") {
                host = end
                port = nil
            } else if byte == .colon {
                port = end
            }
        }
        guard host < end, bytes[host] != .colon else { return "has no host" }
        if bytes[host] == .leftBracket {
            guard bytes[host..<end].contains(.rightBracket) else { return "has a bracket that is not closed" }
        } else if bytes[host..<end].contains(.percent) {
            // Programs differ in whether they decode it, so it could name another host than the app compares.
            return "has a percent sign in its host"
        }
        // A colon inside brackets belongs to an IPv6 address.
        if let port, bytes[end - 1] != .rightBracket, port < end {
            let digits = bytes[port..<end]
            guard digits.allSatisfy(\.isDigit), UInt16(String(decoding: digits, as: UTF8.self)) != nil else {
                return "has a port that is not a number up to 65535"
            }
        }
        return bytes.first { $0 <= 0x20 || $0 == 0x7F }.map { "contains \($0.nameForMessage)" }
    }
}

extension URLFault {
    /// Returns whether a URL has the most common form, in one pass: `https://`, then letters, digits, dots and hyphens,
    /// then an optional path.
    private static func isCommonForm(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let secure: StaticString = "https://"
        guard bytes.count > 8, let start = bytes.baseAddress, memcmp(start, secure.utf8Start, 8) == 0 else {
            return false
        }
        let letters = ASCIISet.alphanumerics
        var end = 8
        while end < bytes.count, letters.contains(bytes[end]) || bytes[end] == .dot || bytes[end] == UInt8(ascii: "-") {
            end += 1
        }
        guard end > 8, end == bytes.count || bytes[end] == .slash else { return false }
        while end < bytes.count, bytes[end] > 0x20, bytes[end] != 0x7F { end += 1 }
        return end == bytes.count
    }

    /// Returns the correction of `wss://host`, because a WebSocket's URL has the scheme `https` here. Nil for other schemes
    /// than `ws` and `wss`.
    private static func webSocketCorrection(_ bytes: UnsafeBufferPointer<UInt8>, after colon: Int) -> String? {
        let scheme = bytes[..<colon]
        guard bytes.count < 200, scheme.equalsLowercase("ws") || scheme.equalsLowercase("wss") else { return nil }
        let url = (colon == 2 ? "http" : "https") + String(decoding: bytes[colon...], as: UTF8.self)
        return of(url) == nil ? ": write \(Redactor.standard.url(url))" : nil
    }

    /// Returns the fault and the correction for `https:/host`. Nil for a text without a slash.
    private static func oneSlashCorrection(_ bytes: UnsafeBufferPointer<UInt8>, after colon: Int) -> String? {
        guard bytes.count > colon + 2, bytes.count < 200, bytes[colon + 1] == .slash else { return nil }
        let url =
            String(decoding: bytes[...colon], as: UTF8.self) + "//"
            + String(decoding: bytes[(colon + 2)...], as: UTF8.self)
        guard of(url) == nil else { return nil }
        return "has one slash after its scheme: write \(Redactor.standard.url(url))"
    }

    /// Returns the fault of a text without a scheme, and the correction if it begins with a host.
    private static func noScheme(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        let fault = "has no scheme"
        let rest = bytes.starts(with: [.slash, .slash]) ? bytes[2...] : bytes[...]
        let host = rest.prefix { !$0.endsAuthority }
        let name = host.prefix { $0 != .colon }
        let isLocal = name.equalsLowercase("localhost")
        let isHost = isLocal || host.contains(.colon) || host.contains(.dot)
        guard let first = host.first, isHost, first != .colon, first != .dot, bytes.count < 200,
            bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return fault }
        let isPlain = isLocal || first == .leftBracket || first.isDigit
        let url = (isPlain ? "http://" : "https://") + String(decoding: rest, as: UTF8.self)
        return "\(fault): write \(Redactor.standard.url(url))"
    }
}

extension UInt8 {
    /// Whether the host and port of a URL end before this byte.
    fileprivate var endsAuthority: Bool { self == .slash || self == .questionMark || self == .numberSign }
}
