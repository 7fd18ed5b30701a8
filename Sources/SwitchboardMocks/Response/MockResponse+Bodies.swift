import Foundation
import Switchboard

// A `Content-Type` among the given headers replaces the default one.
extension MockResponse {
    /// Creates a response with a status, and with the given fields and body. By default it has neither, not even a
    /// `Content-Type`.
    public static func status(_ code: Int, headers: HTTPHeaders = [:], body: Data = Data()) -> MockResponse {
        MockResponse(statusCode: code, headers: headers, body: body)
    }

    /// Creates a response with a status, a body of text in UTF-8, and only the given fields.
    public static func status(_ code: Int, headers: HTTPHeaders = [:], body: String) -> MockResponse {
        status(code, headers: headers, body: Data(body.utf8))
    }

    /// Creates a response of JSON text, valid or not, sent unchanged as `application/json`.
    public static func json(_ text: String, statusCode: Int = 200, headers: HTTPHeaders = [:]) -> MockResponse {
        json(Data(text.utf8), statusCode: statusCode, headers: headers)
    }

    /// Creates a response of JSON bytes, valid or not, sent unchanged as `application/json`.
    public static func json(_ data: Data, statusCode: Int = 200, headers: HTTPHeaders = [:]) -> MockResponse {
        MockResponse(statusCode: statusCode, headers: headers.describing("application/json"), body: data)
    }

    /// Creates a response of text in UTF-8, as `text/plain; charset=utf-8`.
    public static func text(_ text: String, statusCode: Int = 200, headers: HTTPHeaders = [:]) -> MockResponse {
        MockResponse(
            statusCode: statusCode, headers: headers.describing("text/plain; charset=utf-8"), body: Data(text.utf8))
    }

    /// Creates a response of bytes, as `application/octet-stream`.
    public static func data(_ data: Data, statusCode: Int = 200, headers: HTTPHeaders = [:]) -> MockResponse {
        MockResponse(statusCode: statusCode, headers: headers.describing("application/octet-stream"), body: data)
    }

    /// Creates a response of a value encoded as JSON, as `application/json`.
    ///
    /// - Throws: ``/Switchboard/NetworkError/Code/encodingFailed`` with the encoder's error as its cause.
    public static func encoding(
        _ value: some Encodable, encoder: JSONEncoder = JSONEncoder(), statusCode: Int = 200, headers: HTTPHeaders = [:]
    ) throws(NetworkError) -> MockResponse {
        do {
            return json(try encoder.encode(value), statusCode: statusCode, headers: headers)
        } catch {
            throw NetworkError(.encodingFailed, reason: "MockResponse.encoding: \(error)", underlying: error)
        }
    }
}

extension HTTPHeaders {
    fileprivate func describing(_ type: String) -> HTTPHeaders {
        contains("Content-Type") ? self : HTTPHeaders([.contentType(type)] + self)
    }
}

extension MockResponse {
    /// Returns this response with its body as gzip ([RFC 1952](https://www.rfc-editor.org/rfc/rfc1952)) and with
    /// `Content-Encoding: gzip`. A stub delivers the body decoded, as a session does. On a system without zlib, the
    /// response fails with ``/Switchboard/NetworkError/Code/unsupported``.
    public func gzipped() -> MockResponse {
        do {
            let encoded = try GzipBody(DataBody(body)).encode()
            return with {
                $0.headers.set("Content-Encoding", "gzip")
                $0.body = encoded
                $0.encodedContent = .gzip(body)
            }
        } catch {
            return .failure(.unsupported, reason: "MockResponse.gzipped: \(error)")
        }
    }

    /// Returns this response with a `Content-Encoding` that its body does not have.
    ///
    /// A stub throws ``/Switchboard/NetworkError/Code/cannotDecodeResponse`` for `gzip`, `deflate`, `br` and `zstd`.
    /// For any other name it delivers the body unchanged, as ``/Switchboard/CurlSession`` does.
    public func mislabelled(as encoding: String = "gzip") -> MockResponse {
        let isKnown = ["gzip", "x-gzip", "deflate", "br", "zstd"].contains(encoding.lowercased())
        return with {
            $0.headers.set("Content-Encoding", encoding)
            $0.encodedContent = isKnown ? .mislabelled : nil
        }
    }
}

extension MockResponse {
    /// Creates a redirect, with `location` as written in its `Location` field. The default status is 302.
    public static func redirect(to location: String, statusCode: Int = 302, headers: HTTPHeaders = [:]) -> MockResponse
    {
        MockResponse(statusCode: statusCode, headers: headers.merging(["Location": location]))
    }

    /// A redirect to itself, for every request that follows. A router throws
    /// ``/Switchboard/NetworkError/Code/tooManyRedirects`` for it.
    public static var redirectLoop: MockResponse { redirect(to: "/loop").repeated() }
}
