import SwitchboardText

/// A request method, such as `GET`.
///
/// Known methods are sent in upper case, whatever their spelling: `HTTPMethod(rawValue: "patch")` is `PATCH`. Other
/// methods are sent exactly as given, because methods are case-sensitive ([RFC 9110
/// §9.1](https://www.rfc-editor.org/rfc/rfc9110#section-9.1)). A method that is not a token, such as one with a line
/// break, makes the request fail with ``NetworkError/Code/invalidRequest`` before anything is sent.
public struct HTTPMethod: RawRepresentable, Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The method as it is sent.
    public let rawValue: String

    /// Creates a method from its name. The name of a known method becomes upper case.
    public init(rawValue: String) {
        self.rawValue = Self.known.first { $0.equalsIgnoringCase(rawValue) } ?? rawValue
    }

    private init(known: String) {
        rawValue = known
    }

    /// Creates a method from its name, like ``init(rawValue:)``.
    public init(stringLiteral value: String) {
        self.init(rawValue: value)
    }

    /// `GET`
    public static let get = HTTPMethod(known: "GET")
    /// `POST`
    public static let post = HTTPMethod(known: "POST")
    /// `PUT`
    public static let put = HTTPMethod(known: "PUT")
    /// `PATCH`
    public static let patch = HTTPMethod(known: "PATCH")
    /// `DELETE`
    public static let delete = HTTPMethod(known: "DELETE")
    /// `HEAD`
    public static let head = HTTPMethod(known: "HEAD")
    /// `OPTIONS`
    public static let options = HTTPMethod(known: "OPTIONS")
    /// `TRACE`
    public static let trace = HTTPMethod(known: "TRACE")
    /// `CONNECT`
    public static let connect = HTTPMethod(known: "CONNECT")

    private static let known = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT"]

    /// The method as it is sent.
    public var description: String { rawValue }

    /// Whether a request with this method may have a body.
    ///
    /// False for GET, HEAD and TRACE: a body has no defined meaning there ([RFC 9110
    /// §9.3.1](https://www.rfc-editor.org/rfc/rfc9110#section-9.3.1)), servers drop it, and URLSession refuses it.
    public var allowsBody: Bool {
        self != .get && self != .head && self != .trace
    }

    /// Whether parameters go into the query by default. True for GET, HEAD and DELETE.
    package var prefersQuery: Bool {
        self == .get || self == .head || self == .delete
    }

    /// Whether the method only reads ([RFC 9110 §9.2.1](https://www.rfc-editor.org/rfc/rfc9110#section-9.2.1)). False
    /// for custom methods.
    package var isSafe: Bool {
        switch self {
        case .get, .head, .options, .trace: true
        default: false
        }
    }

    /// Whether sending twice has the same effect as sending once ([RFC 9110
    /// §9.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-9.2.2)). False for custom methods.
    public var isIdempotent: Bool {
        switch self {
        case .get, .head, .put, .delete, .options, .trace: true
        default: false
        }
    }
}
