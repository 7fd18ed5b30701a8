/// The meaning of a status in plain words.
enum StatusText {
    /// The words, without the number.
    static func words(for status: Int) -> String {
        if let words = known[status] { return words }
        return switch status {
        case 300...399: "The server answered with a redirect"
        case 400...499: "The request was refused"
        case 500...599: "The server failed"
        default: "Unexpected status"
        }
    }

    // The registry of status codes (https://www.iana.org/assignments/http-status-codes).
    private static let known = [
        304: "Not changed",
        400: "Bad request", 401: "Sign in first", 402: "Payment required", 403: "Not allowed", 404: "Not found",
        405: "Not possible here", 406: "Not available in this form", 407: "Sign in to the proxy first",
        408: "The request took too long", 409: "In conflict with what is there", 410: "No longer available",
        411: "The request does not say its length", 412: "Changed in the meantime", 413: "Too large",
        414: "The address is too long", 415: "This kind of content is not accepted",
        416: "There is no such part", 417: "The server does not do what was expected",
        421: "Sent to the wrong server", 422: "The content is not valid", 423: "Locked",
        424: "Another request failed before", 425: "Too early", 426: "A newer protocol is required",
        428: "The request lacks a condition", 429: "Too many requests", 431: "The request's headers are too large",
        451: "Not available for legal reasons",
        500: "The server failed", 501: "The server cannot do that", 502: "The server cannot be reached",
        503: "The server is not available", 504: "The server did not answer in time",
        505: "The server does not know this version of HTTP", 506: "The server is not set up correctly",
        507: "The server has no space left", 508: "The server went in circles",
        510: "The server requires an extension", 511: "Sign in to the network first",
    ]
}
