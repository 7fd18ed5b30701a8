import Foundation
import Switchboard
import SwitchboardText

/// The key of the stored responses of a URL: with the partition and the identity of the request. The method is GET, or
/// HEAD, which the response to a GET answers too. The texts are compared byte by byte.
struct CacheKey: Sendable {
    let url: String
    let partition: String
    /// The identity that may read the response. It may contain credentials, so it stays in memory; the disk holds only
    /// its hash.
    let identity: String

    /// Creates the key of a request. Nil for a request that the cache does not handle: a method other than GET and HEAD,
    /// a body, a `Range`, a condition that the app set, or a streamed response.
    init?(_ request: NetworkRequest, identity: ResponseCache.Identity?, ignoring ignored: Set<String>) {
        let options = request.options
        guard [.get, .head].contains(request.method), request.body.isEmpty, let url = request.url,
            !options.streamsResponse
        else { return nil }
        let conditions = ["Range", "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "If-Range"]
        guard !conditions.contains(where: request.headers.contains) else { return nil }
        self.url = url.asCacheKey
        partition = options.partition ?? ""
        guard let identity else {
            // Compares all fields: any of them may hold a credential.
            let all = request.allHeaders
            let names = Set(all.map { $0.name.lowercased() }).subtracting(ignored).sorted()
            let fields = names.flatMap { name in
                CacheVariant.normalized(name, all.values(for: name)).map { "\(name): \($0)" }
            }
            // A login behind the cache leaves anonymous requests alone and may add credentials to all others.
            let isNobodys = [AuthenticationChoice.anonymous, .none].contains(options.authentication)
            let user = (url.withoutUserInfo.credentials ?? "") + (isNobodys ? "\nanonymous" : "")
            self.identity = ([user] + fields).joined(separator: "\n")
            return
        }
        self.identity = identity(request) ?? ""
    }
}

extension CacheKey: Hashable {
    static func == (one: CacheKey, other: CacheKey) -> Bool {
        one.url.hasBytes(of: other.url) && one.partition.hasBytes(of: other.partition)
            && one.identity.hasBytes(of: other.identity)
    }

    func hash(into hasher: inout Hasher) {
        for text in [url, partition, identity] {
            hasher.combine(text.utf8.count)
            var text = text
            text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }
    }
}

extension URL {
    /// The normalized URL ([RFC 3986 §6.2](https://www.rfc-editor.org/rfc/rfc3986#section-6.2)): scheme and host in
    /// lower case, no default port, no user, no fragment, and only the necessary escapes.
    var asCacheKey: String {
        let parts = URLParts(self)
        let path = parts.path.isEmpty ? "/" : parts.path.withoutNeedlessEscapes
        let query = parts.query.map { "?\($0.withoutNeedlessEscapes)" } ?? ""
        return "\(parts.scheme.lowercased())://\(parts.host.lowercased())\(portSuffix)\(path)\(query)"
    }
}

extension String {
    /// The text with unreserved characters unescaped ([RFC 3986
    /// §2.3](https://www.rfc-editor.org/rfc/rfc3986#section-2.3)) and the other escapes in upper case.
    fileprivate var withoutNeedlessEscapes: String {
        guard utf8.contains(UInt8(ascii: "%")) else { return self }
        var result = ""
        var rest = Substring(self)
        while let percent = rest.firstIndex(of: "%") {
            result += rest[..<percent]
            let code = rest[percent...].prefix(3)
            rest = rest[percent...].dropFirst(code.count)
            let byte = code.count == 3 ? UInt8(code.dropFirst(), radix: 16) : nil
            let plain = byte.flatMap { ASCIISet.unreserved.contains($0) ? String(Unicode.Scalar($0)) : nil }
            result += plain ?? code.uppercased()
        }
        return result + rest
    }
}
