import Foundation
import Switchboard
import SwitchboardText

/// A request as it arrived at a ``MockServer``, or as a ``StubSession`` would have sent it. Nothing is normalized
/// beyond what the properties describe.
public struct RecordedRequest: Sendable, Hashable {
    /// The method. A known method is in upper case; ``head`` has it as it was sent.
    public let method: HTTPMethod
    /// The text between method and version on the request line: usually path and query, a whole URL for a proxy.
    public let target: String
    /// `HTTP/1.1` or `HTTP/1.0`.
    public let httpVersion: String
    /// The header fields in the order of arrival, names as sent, repeats included.
    public let headers: HTTPHeaders
    /// The body, without chunk framing. Content encodings such as gzip are as sent.
    public let body: Data
    /// The fields after the last chunk of a chunked body. Empty without any.
    public let trailers: HTTPHeaders
    /// The bytes of the request line and the header block, including the empty line that ends it.
    public let head: Data
    /// The number of the request's connection, in the order in which the server accepted them, from 1. 0 in a stub, which
    /// has no connections.
    public let connection: Int
    /// The request's index on its connection, from 0. An index above 0 means that the connection was kept alive. In a
    /// stub, the request's index among all requests.
    public internal(set) var index: Int
    /// Whether the request came over TLS.
    public internal(set) var isSecure = false
    /// The endpoint that made the request, if the stub received it.
    var endPoint = EndPointBox()

    /// The body as text. Bytes that are not UTF-8 become U+FFFD.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// Decodes the body from JSON.
    ///
    /// - Throws: ``/Switchboard/NetworkError/Code/decodingFailed`` with the key path when the body is not JSON for that
    ///   type.
    public func decode<Value: Decodable>(
        _ type: Value.Type, decoder: JSONDecoder = JSONDecoder()
    ) throws(NetworkError) -> Value {
        do {
            return try decoder.decode(type, from: body.received(for: decoder))
        } catch {
            let reason = DecodingFailure.reason(error, in: body, as: type)
            throw NetworkError(.decodingFailed, reason: "the body of \(self): \(reason)", underlying: error)
        }
    }
}

extension RecordedRequest: DumpedAsDescription {
    /// The method, the target with its secrets replaced, and the size of the body, on one line.
    public var description: String {
        "\(method) \(Redaction.standard.url(target))" + (body.isEmpty ? "" : " (\(body.count.counted("byte")))")
    }
}

extension RecordedRequest {
    /// The path of ``target`` as it was sent, escapes included. Empty when the target is a whole URL without a path.
    public var path: String {
        String(origin.prefix(before: .questionMark))
    }

    /// The query of ``target`` as it was sent, without its question mark. Nil when the target has no question mark.
    public var query: String? {
        origin.utf8.firstIndex(of: .questionMark).map { String(origin[origin.utf8.index(after: $0)...]) }
    }

    /// The pairs of ``query`` in order, decoded as servers do: `%20` and `+` become spaces.
    ///
    /// A pair without `=` has the value nil, empty pairs are left out, and an invalid escape stays unchanged.
    public var queryItems: [URLQueryItem] {
        FormBody.decode(query ?? "")
    }

    /// Returns the value of the first pair of ``queryItems`` with that name.
    public func queryValue(_ name: String) -> String? {
        queryItems.first { $0.name.hasBytes(of: name) }?.value
    }

    /// The requested URL, from `Host` and ``target``, or nil when they make no URL.
    public var url: URL? {
        if wholeURL != nil { return URL(string: target) }
        guard target.utf8.first == .slash, let host = headers["Host"] else { return nil }
        return URL(string: "\(scheme)://\(host)\(target)")
    }

    /// The scheme of ``url``.
    var scheme: String { wholeURL?.scheme ?? (isSecure ? "https" : "http") }

    /// The host of ``url``, with the port if the request has one.
    var authority: String { wholeURL?.authority ?? headers["Host"] ?? "" }

    /// The parts of a target that is a whole URL. They replace the scheme of the connection and `Host` ([RFC 9112
    /// §3.2.2](https://www.rfc-editor.org/rfc/rfc9112#section-3.2.2)).
    private var wholeURL: (scheme: String, authority: String, origin: Substring)? {
        guard target.utf8.first != .slash, let mark = target.schemeMark else { return nil }
        let authority = target[mark.upperBound...].prefix(before: .slash, .questionMark)
        return (
            target[..<mark.lowerBound].lowercased(), String(authority.split(separator: "@").last ?? ""),
            target[authority.endIndex...]
        )
    }

    /// Path and query.
    private var origin: Substring { wholeURL?.origin ?? target[...] }
}

/// A value that comparisons and hashes ignore: all boxes are equal.
struct EndPointBox: Sendable, Hashable {
    var value: EndPointRecord?

    static func == (one: EndPointBox, other: EndPointBox) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
}
