import Foundation
import Switchboard
import SwitchboardText

/// The key of stored responses: the URL, the partition and the identity of a GET, or of a HEAD, which the response to a
/// GET answers too. The texts are compared byte by byte. A class, because a lookup copies the key several times.
final class CacheKey: Sendable {
    let url: String
    let partition: String
    /// The identity that may read the response. It may contain credentials, so only its hash is on disk.
    let identity: String
    /// Whether the app returned the identity. If not, it consists of the header fields.
    let isNamed: Bool
    /// The fields that may differ between requests for the same response.
    private static let ignoredFields = [
        "cache-control", "pragma", "user-agent", "x-request-id", "x-correlation-id", "traceparent", "tracestate",
        "range", "if-range", "if-none-match", "if-modified-since",
    ]

    /// Creates the key of a request. Nil for a request that the cache does not handle: a method other than GET and
    /// HEAD, a body, the handshake of another protocol, a `Range` other than one range of bytes for a GET, an
    /// `If-Range` alone, a condition for the server alone, an invalid condition, a condition with a `Range` or of a
    /// streamed response, or, in a cache with an identity, a URL without a host. Without an identity, the URL that was
    /// sent is compared with that of the request before the response is stored.
    init?(_ request: NetworkRequest, identity: ResponseCache.Identity?) {
        let options = request.options
        guard request.method == .get || request.method == .head, request.body.isEmpty, options.upgrade == nil,
            let text = request.urlText, identity == nil || text.hasOrigin
        else { return nil }
        let headers = request.headers
        guard !headers.contains(where: \.mayBeRangeOrCondition) || CacheKey.handlesRangeOrCondition(of: request) else {
            return nil
        }
        self.url = text.asCacheKey
        partition = options.partition ?? ""
        if let name = identity?(request) {
            self.identity = CacheKey.text(ofName: name)
            isNamed = true
            return
        }
        let user = text.containsAtSign ? URL(string: text)?.withoutUserInfo.authorization ?? "" : ""
        // A login after the cache leaves anonymous requests alone and may add credentials to all others.
        let choice = options.authentication
        let isAnonymous =
            choice == RequestOptions.Authentication.anonymous || choice == RequestOptions.Authentication.none
        let start = (identity == nil ? "" : "\0fields\n") + (isAnonymous ? user + "\nanonymous" : user)
        self.identity = CacheKey.text(headers, after: start)
        isNamed = false
    }

    /// Returns the identity of a name that the app returned. It differs from that of each request without a name.
    static func text(ofName name: String) -> String { name.utf8.first == 0 ? "\0name\n" + name : name }

    private static func handlesRangeOrCondition(of request: NetworkRequest) -> Bool {
        let headers = request.headers
        let isRange = headers.contains("Range")
        return !headers.contains("If-Match") && !headers.contains("If-Unmodified-Since")
            && (isRange ? CacheRange(request) != nil : !headers.contains("If-Range"))
            && (!request.isConditional
                || !isRange && !request.options.streamsResponse && CacheCondition(request) != nil)
    }

    /// Returns a text followed by all fields but the ignored ones, sorted by name. Any of them may be a credential.
    private static func text(_ headers: HTTPHeaders, after start: String) -> String {
        var lines: [(name: String, value: String)] = []
        let ignored = ignoredFields
        for field in headers where !ignored.contains(where: field.name.equalsIgnoringCase) {
            lines.append((field.name.lowercased(), field.value))
        }
        if lines.count > 1 { lines.sort { $0.name < $1.name } }
        let isRepeated = zip(lines, lines.dropFirst()).contains { $0.name == $1.name }
        if isRepeated || !lines.allSatisfy(CacheVariant.isNormalized) {
            lines = Set(lines.map(\.name)).sorted().flatMap { name in
                CacheVariant.normalized(name, headers.values(for: name)).map { (name, $0) }
            }
        }
        let count = lines.reduce(start.utf8.count) { $0 + $1.name.utf8.count + $1.value.utf8.count + 3 }
        return String(unsafeUninitializedCapacity: count) { bytes in
            var end = 0
            func add(_ text: String) {
                end = bytes[end...].initialize(fromContentsOf: text.utf8)
            }
            add(start)
            for (name, value) in lines {
                add("\n")
                add(name)
                add(": ")
                add(value)
            }
            return end
        }
    }
}

extension HTTPHeader {
    /// Whether the name begins like `Range` or a condition, with R or I.
    fileprivate var mayBeRangeOrCondition: Bool {
        name.utf8.first.map { [UInt8(ascii: "i"), UInt8(ascii: "r")].contains($0.lowercased) } ?? false
    }
}

extension CacheKey: Hashable {
    static func == (one: CacheKey, other: CacheKey) -> Bool {
        one.url.hasBytes(of: other.url) && one.partition.hasBytes(of: other.partition)
            && one.identity.hasBytes(of: other.identity)
    }

    func hash(into hasher: inout Hasher) {
        // Without an array of the texts, which takes longer.
        ExactText(url).hash(into: &hasher)
        ExactText(partition).hash(into: &hasher)
        ExactText(identity).hash(into: &hasher)
    }
}

extension URL {
    /// The normalized URL ([RFC 3986 §6.2](https://www.rfc-editor.org/rfc/rfc3986#section-6.2)): scheme and host in
    /// lower case, no default port, no user, no fragment, and only the necessary escapes.
    var asCacheKey: String { absoluteString.asCacheKey }
}

extension String {
    /// The text of a URL as ``Foundation/URL/asCacheKey``.
    var asCacheKey: String {
        var text = self
        return text.withUTF8(\.cacheKey) ?? text
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The normalized text of the URL. Nil if the URL is normalized.
    fileprivate var cacheKey: String? {
        let end = firstIndex(ofByte: .numberSign) ?? count
        let query = Swift.min(firstIndex(ofByte: .questionMark) ?? end, end)
        let colon = part(..<query).firstIndex(ofByte: .colon) ?? 0
        let start = Swift.min(colon + 3, query)
        let path = part(start..<query).firstIndex(ofByte: .slash).map { start + $0 } ?? query
        var host = self[start..<path]
        if let at = host.lastIndex(of: UInt8(ascii: "@")) { host = host[(at + 1)...] }
        if part(start..<path).firstIndex(ofByte: .colon) != nil {
            let isPlain = self[..<colon].lazy.map(\.lowercased).elementsEqual("http".utf8)
            let port = isPlain ? ":80" : ":443"
            if host.last == .colon { host = host.dropLast() }
            if host.count >= port.utf8.count, host.suffix(port.utf8.count).elementsEqual(port.utf8) {
                host = host.dropLast(port.utf8.count)
            }
        }
        let rest = part(path..<end)
        let isWhole = path < query && end == count && host.count == path - start
        let isNormal = isWhole && rest.firstIndex(ofByte: .percent) == nil
        if isNormal, !part(..<path).contains(where: { (0x41...0x5A).contains($0) }) { return nil }
        var bytes = self[..<colon].map(\.lowercased)
        bytes += self[colon..<start]
        for byte in host { bytes.append(byte.lowercased) }
        if path == query { bytes.append(.slash) }
        bytes.append(withoutNeedlessEscapes: rest[...])
        return String(decoding: bytes, as: UTF8.self)
    }

    private func part(_ range: some RangeExpression<Int>) -> Self { Self(rebasing: self[range]) }
}

extension [UInt8] {
    /// Appends a text with unreserved characters unescaped ([RFC 3986
    /// §2.3](https://www.rfc-editor.org/rfc/rfc3986#section-2.3)) and the other escapes in upper case.
    fileprivate mutating func append(withoutNeedlessEscapes text: Slice<UnsafeBufferPointer<UInt8>>) {
        var rest = text
        while let percent = rest.firstIndex(of: .percent) {
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
