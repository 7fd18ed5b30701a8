import Foundation

/// The parts of a request that parameters can be written to, while it is being built.
public struct RequestDraft: Sendable {
    /// The method.
    public var method: HTTPMethod
    /// The URL so far; nil when there is none.
    public var url: URL?
    /// The fields so far. What an encoder adds should give way to fields that are here already.
    public var headers: HTTPHeaders
    /// The body so far.
    public var body: any HTTPBody

    /// Makes a draft.
    public init(method: HTTPMethod = .get, url: URL?, headers: HTTPHeaders = [:], body: any HTTPBody = EmptyBody()) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}

extension RequestDraft: CustomStringConvertible, CustomReflectable {
    /// The method and the URL, secrets replaced.
    public var description: String {
        "\(method) \(url.map { Redaction.standard.url($0.absoluteString) } ?? "(no URL)")"
    }

    /// Shows the redacted line only, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
