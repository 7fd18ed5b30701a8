import Foundation
import Switchboard

/// A request as it arrived at a ``MockServer``, or as a ``StubSession`` would have sent it: nothing is normalised but
/// what is said here.
public struct RecordedRequest: Sendable, Hashable {
    /// The method. A known one is in upper case, see ``head`` for how it was sent.
    public let method: HTTPMethod
    /// What stands between method and version on the request line: usually path and query, a whole URL for a proxy.
    public let target: String
    /// `HTTP/1.1` or `HTTP/1.0`.
    public let httpVersion: String
    /// The header fields in the order they came, names as sent, repeats kept.
    public let headers: HTTPHeaders
    /// The body, without chunk framing. Content encodings such as gzip are as sent.
    public let body: Data
    /// The fields behind the last chunk of a chunked body; empty without any.
    public let trailers: HTTPHeaders
    /// The bytes of the request line and the header block, with the empty line that ends it.
    public let head: Data
    /// The connection it came on, in the order they were accepted, from 1; 0 in a stub, which has none.
    public let connection: Int
    /// Its place among the requests of that connection, from 0. More than 0 means that the connection was kept alive.
    public let index: Int
    /// Whether it came over TLS.
    public internal(set) var isSecure = false
    /// The endpoint it was made for, where a stub knows it.
    var endPoint = EndPointBox()

    var scheme: String { isSecure ? "https" : "http" }

    /// The body as text; bytes that are not UTF-8 become U+FFFD.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The body decoded from JSON.
    ///
    /// - Throws: ``/Switchboard/NetworkError/Code/decodingFailed`` when it is something else.
    public func decode<Value: Decodable>(
        _ type: Value.Type, decoder: JSONDecoder = JSONDecoder()
    ) throws(NetworkError) -> Value {
        do {
            return try decoder.decode(type, from: body)
        } catch {
            throw NetworkError(.decodingFailed, reason: "the body of \(self): \(error)", underlying: error)
        }
    }
}

extension RecordedRequest: CustomStringConvertible {
    /// The method, the target with its secrets replaced, and the size of the body, on one line.
    public var description: String {
        "\(method) \(Redaction.standard.url(target))" + (body.isEmpty ? "" : " (\(body.count) bytes)")
    }
}
