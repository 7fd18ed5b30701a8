import Switchboard

/// An HTTP archive, [version 1.2](http://www.softwareishard.com/blog/har-12-spec/), as far as a cassette needs it.
///
/// Reading takes what browsers write too: fields that are not here are skipped, and most of those that are may be
/// missing. What is written has every field that the format demands.
package struct HAR: Codable, Sendable {
    package var log: Log

    package init(log: Log) {
        self.log = log
    }

    package struct Log: Codable, Sendable {
        package var version = "1.2"
        package var creator = Creator()
        package var entries: [Entry]

        package init(entries: [Entry]) {
            self.entries = entries
        }

        enum CodingKeys: String, CodingKey {
            case version, creator, entries
        }
    }

    package struct Creator: Codable, Sendable {
        package var name = "Switchboard"
        package var version = "1"
    }

    /// One exchange.
    package struct Entry: Codable, Sendable {
        /// ISO 8601, with milliseconds where it was written here.
        package var startedDateTime: String
        /// In milliseconds: the sum of ``timings``.
        package var time: Double
        package var request: Request
        package var response: Response
        package var cache = Cache()
        package var timings: Timings
        package var serverIPAddress: String?

        enum CodingKeys: String, CodingKey {
            case startedDateTime, time, request, response, cache, timings, serverIPAddress
        }
    }

    /// Nothing is known about caches.
    package struct Cache: Codable, Sendable {}

    package struct Request: Codable, Sendable {
        package var method: String
        package var url: String
        package var httpVersion: String
        package var cookies: [Cookie]
        package var headers: [Field]
        package var queryString: [Field]
        package var postData: PostData?
        package var headersSize = -1
        package var bodySize: Int

        enum CodingKeys: String, CodingKey {
            case method, url, httpVersion, cookies, headers, queryString, postData, headersSize, bodySize
        }
    }

    package struct Response: Codable, Sendable {
        package var status: Int
        package var statusText: String
        package var httpVersion: String
        package var cookies: [Cookie]
        package var headers: [Field]
        package var content: Content
        package var redirectURL: String
        package var headersSize = -1
        package var bodySize: Int
        /// The fields behind a chunked body, for which the format has no place; nil without any.
        package var trailers: [Field]?
        /// Why there is no response, as browsers have it; nil when there is one.
        package var error: String?

        enum CodingKeys: String, CodingKey {
            case status, statusText, httpVersion, cookies, headers, content, redirectURL, headersSize, bodySize
            case trailers = "_trailers"
            case error = "_error"
        }
    }

    /// A header field, or a pair of a query.
    package struct Field: Codable, Sendable, Hashable {
        package var name: String
        package var value: String
    }

    package struct Cookie: Codable, Sendable {
        package var name: String
        package var value: String
        package var path: String?
        package var domain: String?
        package var httpOnly: Bool?
        package var secure: Bool?
    }

    /// The body of a request.
    package struct PostData: Codable, Sendable {
        package var mimeType: String
        package var text: String?
        /// `base64` for bytes that are no text. The format has this for responses only.
        package var encoding: String?
        /// What some browsers write for a form in place of the text. Never written here: text and these exclude each
        /// other.
        package var params: [Field]?

        enum CodingKeys: String, CodingKey {
            case mimeType, text, params
            case encoding = "_encoding"
        }
    }

    /// The body of a response, without its content encoding.
    package struct Content: Codable, Sendable {
        /// In bytes, as they arrived.
        package var size: Int
        package var mimeType: String
        /// Nil when there is no body, or when a browser has not kept it.
        package var text: String?
        /// `base64` for bytes that are no text.
        package var encoding: String?

        enum CodingKeys: String, CodingKey {
            case size, mimeType, text, encoding
        }
    }

    /// In milliseconds; -1 for what is not known.
    package struct Timings: Codable, Sendable {
        package var blocked: Double = -1
        package var dns: Double = -1
        /// With TLS, which ``ssl`` has once more.
        package var connect: Double = -1
        package var send: Double = 0
        package var wait: Double = 0
        package var receive: Double = 0
        package var ssl: Double = -1

        enum CodingKeys: String, CodingKey {
            case blocked, dns, connect, send, wait, receive, ssl
        }
    }
}
