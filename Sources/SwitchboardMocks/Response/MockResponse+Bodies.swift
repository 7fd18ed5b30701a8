import Foundation
import Switchboard

// A `Content-Type` among the headers given wins over that of the maker.
extension MockResponse {
    /// A status, with whatever fields and body are given; by default none, so no `Content-Type` either.
    public static func status(_ code: Int, headers: HTTPHeaders = [:], body: Data = Data()) -> MockResponse {
        MockResponse(status: code, headers: headers, body: body)
    }

    /// A status with a text in UTF-8 as its body, and no field but those given.
    public static func status(_ code: Int, headers: HTTPHeaders = [:], body: String) -> MockResponse {
        status(code, headers: headers, body: Data(body.utf8))
    }

    /// JSON text as it is, valid or not, as `application/json`.
    public static func json(_ text: String, status: Int = 200, headers: HTTPHeaders = [:]) -> MockResponse {
        json(Data(text.utf8), status: status, headers: headers)
    }

    /// JSON at hand as bytes, valid or not, as `application/json`.
    public static func json(_ data: Data, status: Int = 200, headers: HTTPHeaders = [:]) -> MockResponse {
        MockResponse(status: status, headers: headers.describing("application/json"), body: data)
    }

    /// Text in UTF-8, as `text/plain; charset=utf-8`.
    public static func text(_ text: String, status: Int = 200, headers: HTTPHeaders = [:]) -> MockResponse {
        MockResponse(status: status, headers: headers.describing("text/plain; charset=utf-8"), body: Data(text.utf8))
    }

    /// Bytes, as `application/octet-stream`.
    public static func data(_ data: Data, status: Int = 200, headers: HTTPHeaders = [:]) -> MockResponse {
        MockResponse(status: status, headers: headers.describing("application/octet-stream"), body: data)
    }

    /// A value as JSON, as `application/json`.
    ///
    /// - Throws: ``/Switchboard/NetworkError/Code/encodingFailed`` over what the encoder threw.
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
    /// These fields behind a `Content-Type`, unless they have one.
    fileprivate func describing(_ type: String) -> HTTPHeaders {
        contains("Content-Type") ? self : HTTPHeaders([.contentType(type)] + self)
    }
}
