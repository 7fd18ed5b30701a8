/// An HTTP archive, [version 1.2](http://www.softwareishard.com/blog/har-12-spec/), as far as a cassette needs it.
///
/// Reading takes what browsers write too: fields that are not here are skipped, and most of those that are may be
/// missing. What is written has every field that the format demands.
struct HAR: Codable, Sendable {
    var log: Log

    struct Log: Codable, Sendable {
        var version = "1.2"
        var creator = Creator()
        var entries: [Entry]

        enum CodingKeys: String, CodingKey {
            case version, creator, entries
        }
    }

    struct Creator: Codable, Sendable {
        var name = "Switchboard"
        var version = "1"
    }

    /// One exchange.
    struct Entry: Codable, Sendable {
        /// ISO 8601, with milliseconds where it was written here.
        var startedDateTime: String
        /// In milliseconds: the sum of ``timings``.
        var time: Double
        var request: Request
        var response: Response
        var cache = Cache()
        var timings: Timings
        var serverIPAddress: String?

        enum CodingKeys: String, CodingKey {
            case startedDateTime, time, request, response, cache, timings, serverIPAddress
        }
    }

    /// Nothing is known about caches.
    struct Cache: Codable, Sendable {}

    struct Request: Codable, Sendable {
        var method: String
        var url: String
        var httpVersion: String
        var cookies: [Cookie]
        var headers: [Field]
        var queryString: [Field]
        var postData: PostData?
        var headersSize = -1
        var bodySize: Int

        enum CodingKeys: String, CodingKey {
            case method, url, httpVersion, cookies, headers, queryString, postData, headersSize, bodySize
        }
    }

    struct Response: Codable, Sendable {
        var status: Int
        var statusText: String
        var httpVersion: String
        var cookies: [Cookie]
        var headers: [Field]
        var content: Content
        var redirectURL: String
        var headersSize = -1
        var bodySize: Int
        /// The fields behind a chunked body, for which the format has no place; nil without any.
        var trailers: [Field]?

        enum CodingKeys: String, CodingKey {
            case status, statusText, httpVersion, cookies, headers, content, redirectURL, headersSize, bodySize
            case trailers = "_trailers"
        }
    }

    /// A header field, or a pair of a query.
    struct Field: Codable, Sendable, Hashable {
        var name: String
        var value: String
    }

    struct Cookie: Codable, Sendable {
        var name: String
        var value: String
        var path: String?
        var domain: String?
        var httpOnly: Bool?
        var secure: Bool?
    }

    /// The body of a request.
    struct PostData: Codable, Sendable {
        var mimeType: String
        var text: String?
        /// `base64` for bytes that are no text. The format has this for responses only.
        var encoding: String?
        /// What some browsers write for a form in place of the text. Never written here: text and these exclude each
        /// other.
        var params: [Field]?

        enum CodingKeys: String, CodingKey {
            case mimeType, text, params
            case encoding = "_encoding"
        }
    }

    /// The body of a response, without its content encoding.
    struct Content: Codable, Sendable {
        /// In bytes, as they arrived.
        var size: Int
        var mimeType: String
        /// Nil when there is no body, or when a browser has not kept it.
        var text: String?
        /// `base64` for bytes that are no text.
        var encoding: String?

        enum CodingKeys: String, CodingKey {
            case size, mimeType, text, encoding
        }
    }

    /// In milliseconds; -1 for what is not known.
    struct Timings: Codable, Sendable {
        var blocked: Double = -1
        var dns: Double = -1
        /// With TLS, which ``ssl`` has once more.
        var connect: Double = -1
        var send: Double = 0
        var wait: Double = 0
        var receive: Double = 0
        var ssl: Double = -1

        enum CodingKeys: String, CodingKey {
            case blocked, dns, connect, send, wait, receive, ssl
        }
    }
}
