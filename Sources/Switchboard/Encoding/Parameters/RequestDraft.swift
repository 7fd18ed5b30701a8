import Foundation

/// The parts of an unfinished request to which parameters can be written.
public struct RequestDraft: Sendable {
    /// The method.
    public var method: HTTPMethod
    /// The URL so far, or nil if the request has none.
    public var url: URL?
    /// The fields so far. An encoder should not replace existing fields.
    public var headers: HTTPHeaders
    /// The body so far.
    public var body: any HTTPBody

    /// Creates a draft.
    public init(method: HTTPMethod = .get, url: URL?, headers: HTTPHeaders = [:], body: any HTTPBody = EmptyBody()) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}

extension RequestDraft: CustomStringConvertible, CustomReflectable {
    /// The method and the URL, with secrets redacted.
    public var description: String {
        "\(method) \(url.map { Redaction.standard.url($0.absoluteString) } ?? "(no URL)")"
    }

    /// A mirror with only the redacted line, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
