/// The texts of status codes.
package enum StatusText {
    /// Returns the meaning of a status, without its number.
    package static func words(for status: Int) -> String {
        if let words = texts(of: status).words { return words }
        return switch status {
        case 300...399: "The server sent a redirect"
        case 400...499: "The request was refused"
        case 500...599: "The server failed"
        default: "Unexpected status"
        }
    }

    /// Returns the phrase after a status code on the status line. Empty for an unregistered code.
    package static func phrase(for status: Int) -> String { texts(of: status).phrase }

    /// Returns the phrase of a status in the [registry of status
    /// codes](https://www.iana.org/assignments/http-status-codes), and its meaning.
    private static func texts(of status: Int) -> (phrase: String, words: String?) {
        switch status {
        case 100: ("Continue", nil)
        case 101: ("Switching Protocols", nil)
        case 102: ("Processing", nil)
        case 103: ("Early Hints", nil)
        case 200: ("OK", nil)
        case 201: ("Created", nil)
        case 202: ("Accepted", nil)
        case 203: ("Non-Authoritative Information", nil)
        case 204: ("No Content", nil)
        case 205: ("Reset Content", nil)
        case 206: ("Partial Content", nil)
        case 207: ("Multi-Status", nil)
        case 208: ("Already Reported", nil)
        case 226: ("IM Used", nil)
        case 300: ("Multiple Choices", nil)
        case 301: ("Moved Permanently", nil)
        case 302: ("Found", nil)
        case 303: ("See Other", nil)
        case 304: ("Not Modified", "Not changed")
        case 305: ("Use Proxy", nil)
        case 307: ("Temporary Redirect", nil)
        case 308: ("Permanent Redirect", nil)
        case 400: ("Bad Request", "Bad request")
        case 401: ("Unauthorized", "Sign in first")
        case 402: ("Payment Required", "Payment required")
        case 403: ("Forbidden", "Not allowed")
        case 404: ("Not Found", "Not found")
        case 405: ("Method Not Allowed", "Not allowed here")
        case 406: ("Not Acceptable", "Not available in this form")
        case 407: ("Proxy Authentication Required", "Sign in to the proxy first")
        case 408: ("Request Timeout", "The request took too long")
        case 409: ("Conflict", "In conflict with the current state")
        case 410: ("Gone", "No longer available")
        case 411: ("Length Required", "The request does not say its length")
        case 412: ("Precondition Failed", "Changed in the meantime")
        case 413: ("Content Too Large", "Too large")
        case 414: ("URI Too Long", "The address is too long")
        case 415: ("Unsupported Media Type", "This kind of content is not accepted")
        case 416: ("Range Not Satisfiable", "The requested range is not available")
        case 417: ("Expectation Failed", "The server cannot meet the expectation")
        case 418: ("I'm a teapot", nil)
        case 421: ("Misdirected Request", "Sent to the wrong server")
        case 422: ("Unprocessable Content", "The content is not valid")
        case 423: ("Locked", "Locked")
        case 424: ("Failed Dependency", "A request that this one depends on failed")
        case 425: ("Too Early", "Too early")
        case 426: ("Upgrade Required", "A newer protocol is required")
        case 428: ("Precondition Required", "The request lacks a condition")
        case 429: ("Too Many Requests", "Too many requests")
        case 431: ("Request Header Fields Too Large", "The request's headers are too large")
        case 451: ("Unavailable For Legal Reasons", "Not available for legal reasons")
        case 500: ("Internal Server Error", "The server failed")
        case 501: ("Not Implemented", "The server does not support this")
        case 502: ("Bad Gateway", "The server cannot be reached")
        case 503: ("Service Unavailable", "The server is not available")
        case 504: ("Gateway Timeout", "The server did not respond in time")
        case 505: ("HTTP Version Not Supported", "The server does not support this version of HTTP")
        case 506: ("Variant Also Negotiates", "The server is not set up correctly")
        case 507: ("Insufficient Storage", "The server has no space left")
        case 508: ("Loop Detected", "The server detected a loop")
        case 510: ("Not Extended", "The server requires an extension")
        case 511: ("Network Authentication Required", "Sign in to the network first")
        default: ("", nil)
        }
    }
}
