import SwitchboardText
import Foundation

extension RequestOptions {
    /// The status codes that count as success. Default 200 to 299.
    public var acceptedStatusCodes: AcceptedStatusCodes {
        get { self[AcceptedStatusCodesOption.self] }
        set { self[AcceptedStatusCodesOption.self] = newValue }
    }

    /// The error code and message for other status codes. Default ``StatusMap/standard``.
    public var statusMap: StatusMap {
        get { self[StatusMapOption.self] }
        set { self[StatusMapOption.self] = newValue }
    }

    /// The keys of a server's error message in JSON. The first key with a text is used. Keys are read at the top of an
    /// object and inside its `error`. Their value is a text, an object with a `message`, `msg` or `detail`, or a list
    /// of these. Under `errors` it may also be an object with texts by field, `{"email":["is taken"]}`. Default
    /// `message`, `status_message`, `error_description`, `detail`, `errors`, `title`, `error`.
    ///
    /// They do not apply to errors in XML. There the message is the `Message` of S3 and similar services, or the
    /// `detail` or `title` of [RFC 9457](https://www.rfc-editor.org/rfc/rfc9457). A body of the type `text/plain` is
    /// the message itself. A body above 64 KiB has no message, and a message is cut after 1,000 characters.
    public var messageKeys: [String] {
        get { self[MessageKeysOption.self] }
        set { self[MessageKeysOption.self] = newValue }
    }

    /// The status codes that count as success.
    public struct AcceptedStatusCodes: Sendable {
        private let contains: @Sendable (Int) -> Bool

        /// Creates the set of status codes for which a closure returns true.
        public init(where contains: @escaping @Sendable (Int) -> Bool) {
            self.contains = contains
        }

        /// 200 to 299. The default.
        public static let success = AcceptedStatusCodes { (200..<300).contains($0) }
        /// All status codes, so that none is an error.
        public static let any = AcceptedStatusCodes { _ in true }

        /// Returns the status codes in a range: `.range(200..<400)`.
        public static func range(_ range: Range<Int>) -> AcceptedStatusCodes {
            AcceptedStatusCodes { range.contains($0) }
        }

        /// Returns 200 to 299 and more status codes: `.success(and: 304)`.
        public static func success(and others: Int...) -> AcceptedStatusCodes {
            AcceptedStatusCodes { (200..<300).contains($0) || others.contains($0) }
        }

        /// Returns whether a status code counts as success.
        public func contains(_ statusCode: Int) -> Bool {
            contains(statusCode)
        }
    }
}

private enum AcceptedStatusCodesOption: RequestOption {
    static let defaultValue = RequestOptions.AcceptedStatusCodes.success
}
private enum StatusMapOption: RequestOption { static let defaultValue = StatusMap.standard }
private enum MessageKeysOption: RequestOption {
    static let defaultValue = ["message", "status_message", "error_description", "detail", "errors", "title", "error"]
}

extension NetworkResponse {
    package var options: RequestOptions { request?.options ?? RequestOptions() }

    /// The environment in which the app's closures check and decode the response.
    package var environment: CallEnvironment? { request?.callEnvironment }

    /// Throws if the status code is not accepted.
    ///
    /// - Throws: ``NetworkError`` with the code of the ``RequestOptions/statusMap``, the status code, headers and body
    ///   of the response, and the server's message.
    package func checkStatus() throws(NetworkError) {
        let options = options
        let result = environment.run { Result { () throws(NetworkError) in try checkStatus(by: options) } }
        try result.get()
    }

    private func checkStatus(by options: RequestOptions) throws(NetworkError) {
        guard !options.acceptedStatusCodes.contains(statusCode) else { return }
        let messages = ServerMessage(keys: options.messageKeys)
        let structured = messages.text(in: body)
        let serverMessage = structured ?? messages.plainText(in: body, as: headers.contentType)
        let map = options.statusMap
        var error = NetworkError(map.code(statusCode, structured != nil)).with(self)
        error.serverMessage = serverMessage
        if serverMessage == nil, !body.isEmpty, !body.contains(0) {
            error.reason =
                messages.title(of: body).map { "the server sent a page with the title \($0.quotedForMessage)" }
                ?? "the body begins \(DecodingFailure.snippet(of: body))"
        }
        error.wait = retryAfter()
        error.statusMapMessage = map.message?(statusCode)
        throw error
    }
}
