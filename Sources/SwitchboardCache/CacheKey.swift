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
    /// a body, a `Range` other than one range of bytes for a GET (without a `Range`, `If-Range` counts as one), a condition
    /// for the server alone, an invalid condition, or one of a streamed response.
    init?(_ request: NetworkRequest, identity: ResponseCache.Identity?, ignoring ignored: Set<String>) {
        let options = request.options
        guard [.get, .head].contains(request.method), request.body.isEmpty, let text = request.urlText
        else { return nil }
        let isRange = request.headers.contains("Range")
        guard !["If-Match", "If-Unmodified-Since"].contains(where: request.headers.contains),
            isRange ? CacheRange(request) != nil : !request.headers.contains("If-Range"),
            !request.isConditional || !isRange && !options.streamsResponse && CacheCondition(request) != nil
        else { return nil }
        self.url = text.asCacheKey
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
            let user =
                (text.utf8.contains(UInt8(ascii: "@")) ? URL(string: text)?.withoutUserInfo.credentials : nil) ?? ""
            let start = isNobodys ? user + "\nanonymous" : user
            self.identity = ([start] + fields).joined(separator: "\n")
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
    var asCacheKey: String { absoluteString.asCacheKey }
}

extension String {
    /// The text of a URL as ``Foundation/URL/asCacheKey``.
    fileprivate var asCacheKey: String {
        var text = self
        return text.withUTF8 { text in
            let end = text.firstIndex(of: .numberSign) ?? text.count
            let query = text[..<end].firstIndex(of: .questionMark) ?? end
            let colon = text[..<query].firstIndex(of: .colon) ?? 0
            let start = min(colon + 3, query)
            let path = text[start..<query].firstIndex(of: .slash) ?? query
            var host = text[start..<path]
            if let at = host.lastIndex(of: UInt8(ascii: "@")) { host = host[(at + 1)...] }
            let scheme = text[..<colon].map(\.lowercased)
            let port = scheme.elementsEqual("http".utf8) ? ":80" : ":443"
            if host.last == .colon { host = host.dropLast() }
            if host.suffix(port.utf8.count).elementsEqual(port.utf8) { host = host.dropLast(port.utf8.count) }
            var bytes = scheme
            bytes.reserveCapacity(end + 1)
            bytes += text[colon..<start]
            for byte in host { bytes.append(byte.lowercased) }
            if path == query { bytes.append(.slash) }
            bytes.append(withoutNeedlessEscapes: text[path..<end])
            return String(decoding: bytes, as: UTF8.self)
        }
    }
}

extension [UInt8] {
    /// Appends a text with unreserved characters unescaped ([RFC 3986
    /// §2.3](https://www.rfc-editor.org/rfc/rfc3986#section-2.3)) and the other escapes in upper case.
    fileprivate mutating func append(withoutNeedlessEscapes text: Slice<UnsafeBufferPointer<UInt8>>) {
        var rest = text
        while let percent = rest.firstIndex(of: UInt8(ascii: "%")) {
            append(contentsOf: rest[..<percent])
            let code = rest[percent...].prefix(3)
            rest = rest[percent...].dropFirst(code.count)
            let digits = String(decoding: code.dropFirst(), as: UTF8.self)
            if digits.utf8.count == 2, let byte = UInt8(digits, radix: 16), ASCIISet.unreserved.contains(byte) {
                append(byte)
            } else {
                append(contentsOf: "%\(digits.uppercased())".utf8)
            }
        }
        append(contentsOf: rest)
    }
}
