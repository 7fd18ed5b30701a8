import Foundation

extension URL {
    /// The URL without what stands before its host, and that as Basic credentials
    /// ([RFC 7617 §2](https://www.rfc-editor.org/rfc/rfc7617#section-2)); nil when nothing stands there.
    var withoutUserInfo: (URL, credentials: String?) {
        let text = absoluteString
        guard text.utf8.contains(UInt8(ascii: "@")), let start = text.range(of: "://")?.upperBound else {
            return (self, nil)
        }
        let authority = text[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let at = authority.lastIndex(of: "@"),
            let bare = URL(string: String(text[..<start]) + text[text.index(after: at)...])
        else { return (self, nil) }
        let parts = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            .map { String($0).removingPercentEncoding ?? String($0) }
        let pair = parts.count == 2 ? parts[0] + ":" + parts[1] : (parts.first ?? "") + ":"
        return (bare, Data(pair.utf8).base64EncodedString())
    }
}
