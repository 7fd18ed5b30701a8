import Foundation

extension URL {
    /// The URL without the user information before its host, and that information as Basic credentials ([RFC 7617
    /// §2](https://www.rfc-editor.org/rfc/rfc7617#section-2)). The credentials are nil if the URL has none.
    package var withoutUserInfo: (url: URL, credentials: String?) {
        let text = absoluteString
        guard text.utf8.contains(UInt8(ascii: "@")), let start = text.range(of: "://")?.upperBound else {
            return (self, nil)
        }
        let authority = text.utf8[start...].prefix { $0 != .slash && $0 != .questionMark && $0 != .numberSign }
        guard let at = authority.lastIndex(of: UInt8(ascii: "@")),
            let bare = URL(string: String(text[..<start]) + text[text.utf8.index(after: at)...])
        else { return (self, nil) }
        let parts = authority[..<at].split(separator: .colon, maxSplits: 1, omittingEmptySubsequences: false)
            .map { String(Substring($0)) }.map { $0.removingPercentEncoding ?? $0 }
        let pair = parts.count == 2 ? parts[0] + ":" + parts[1] : (parts.first ?? "") + ":"
        return (bare, Data(pair.utf8).base64EncodedString())
    }
}
