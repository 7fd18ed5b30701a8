import Foundation
import Switchboard

// A `Content-Type` among the given headers replaces the default one.
extension MockResponse {
    /// Creates a response with a status, and with the given fields and body. By default it has neither, not even a
    /// `Content-Type`.
    public static func status(_ code: Int, headers: HTTPHeaders = [:], body: Data = Data()) -> MockResponse {
        MockResponse(status: code, headers: headers, body: body)
    }

    /// Creates a response with a status, a body of text in UTF-8, and only the given fields.
    public static func status(_ code: Int, headers: HTTPHeaders = [:], body: String) -> MockResponse {
        status(code, headers: headers, body: Data(body.utf8))
    }

    /// Creates a response of JSON text, valid or not, sent unchanged as `application/json`.
    public static func json(_ text: String, status: Int = 200, headers: HTTPHeaders = [:]) -> MockResponse {
        json(Data(text.utf8), status: status, headers: headers)
    }

    /// Creates a response of JSON bytes, valid or not, sent unchanged as `application/json`.
    public static func json(_ data: Data, status: Int = 200, headers: HTTPHeaders = [:]) -> MockResponse {
        MockResponse(status: status, headers: headers.describing("application/json"), body: data)
    }

    /// Rejects a value at compile time: use ``encoding(_:encoder:status:headers:)``.
    @available(*, unavailable, message: "write `try .encoding(value)`")
    @_disfavoredOverload
    public static func json(_ value: some Encodable, status: Int = 200, headers: HTTPHeaders = [:]) -> MockResponse {
        .status(status, headers: headers)
    }

    /// Creates a response of text in UTF-8, as `text/plain; charset=utf-8`.
    public static func text(_ text: String, status: Int = 200, headers: HTTPHeaders = [:]) -> MockResponse {
        MockResponse(status: status, headers: headers.describing("text/plain; charset=utf-8"), body: Data(text.utf8))
    }

    /// Creates a response of bytes, as `application/octet-stream`.
    public static func data(_ data: Data, status: Int = 200, headers: HTTPHeaders = [:]) -> MockResponse {
        MockResponse(status: status, headers: headers.describing("application/octet-stream"), body: data)
    }

    /// Creates a response of a value encoded as JSON, as `application/json`.
    ///
    /// - Throws: ``/Switchboard/NetworkError/Code/encodingFailed`` with the encoder's error as its cause.
    public static func encoding(
        _ value: some Encodable, encoder: JSONEncoder = JSONEncoder(), status: Int = 200, headers: HTTPHeaders = [:]
    ) throws(NetworkError) -> MockResponse {
        do {
            return json(try encoder.encode(value), status: status, headers: headers)
        } catch {
            throw NetworkError(.encodingFailed, reason: "MockResponse.encoding: \(error)", underlying: error)
        }
    }
}

extension HTTPHeaders {
    /// Returns these fields with a `Content-Type` in front, unless they have one.
    fileprivate func describing(_ type: String) -> HTTPHeaders {
        contains("Content-Type") ? self : HTTPHeaders([.contentType(type)] + self)
    }
}
