#if os(Linux)
import Foundation

extension String {
    /// Returns a static string for a name or value that is common in heads, which saves an allocation. Nil for other
    /// texts, and for texts of up to 15 bytes, which need no allocation anyway.
    init?(commonInHeads bytes: UnsafeBufferPointer<UInt8>) {
        guard bytes.count > 15, bytes.count <= Self.longest else { return nil }
        for text in Self.commonInHeads[bytes.count] where text.isMade(of: bytes) {
            self = text
            return
        }
        return nil
    }

    private func isMade(of bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        utf8.withContiguousStorageIfAvailable { text in
            guard let one = text.baseAddress, let other = bytes.baseAddress, text.count == bytes.count else {
                return false
            }
            return memcmp(one, other, text.count) == 0
        } ?? false
    }

    private static let longest = 40

    /// The texts, indexed by their number of bytes. HTTP/2 uses lower-case names.
    private static let commonInHeads: [[String]] = {
        let names = [
            "Content-Encoding", "Transfer-Encoding", "Content-Disposition", "WWW-Authenticate", "X-Ratelimit-Limit",
            "X-RateLimit-Limit", "X-RateLimit-Reset", "X-RateLimit-Remaining", "Access-Control-Allow-Origin",
            "Access-Control-Allow-Headers", "Access-Control-Allow-Methods", "Access-Control-Allow-Credentials",
            "Access-Control-Expose-Headers", "Strict-Transport-Security", "Content-Security-Policy",
            "X-Content-Type-Options", "X-XSS-Protection", "Permissions-Policy", "Content-Language",
        ]
        let values = [
            "application/json", "application/json; charset=utf-8", "application/json;charset=utf-8",
            "application/json; charset=UTF-8", "application/json;charset=UTF-8", "text/html; charset=utf-8",
            "text/html; charset=UTF-8", "text/plain; charset=utf-8", "text/plain; charset=UTF-8",
            "application/problem+json", "text/event-stream", "application/octet-stream", "no-cache, no-store",
        ]
        var texts = [[String]](repeating: [], count: longest + 1)
        for text in Set(names + names.map { $0.lowercased() } + values) where text.utf8.count > 15 {
            texts[text.utf8.count].append(text)
        }
        return texts
    }()
}
#endif
