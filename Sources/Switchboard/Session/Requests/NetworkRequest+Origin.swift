import Foundation
import SwitchboardText

// Requests that a server led to another URL: by a redirect, a link to the next page or the location of an upload.
extension NetworkRequest {
    /// Whether a server led the request away from its original origin, even if it came back, or may have chosen its
    /// original URL.
    package var hasLeftOrigin: Bool { departures.count > 0 || isForeign }

    /// Whether someone other than the app may have chosen the original URL of the request.
    var isForeign: Bool {
        get { departures.isForeign }
        set { route.departures.isForeign = newValue }
    }

    /// The number of times the request left its origin, and the header fields that were removed.
    package var departures: Departures { route.departures }

    /// Removes the header fields that another origin must not see. From then on, credentials are added only where
    /// ``CredentialOrigins`` allow them explicitly.
    ///
    /// - Parameter isSameSite: True if the request goes to a host of the same site.
    package mutating func leaveOrigin(isSameSite: Bool = false) {
        let names = headersForOrigin
        for name in names { headers.remove(name) }
        route.departures.add(names, isSameSite)
    }

    /// Returns this request as if a server had led it to the destination of an equal one.
    package func led(like other: NetworkRequest) -> NetworkRequest {
        var request = self
        if let url = other.url { request.url = url }
        request.route.departures = other.departures
        return request
    }

    /// The names of the header fields to remove, each once.
    var headersForOrigin: [String] {
        headers.map(\.name).reduce(into: []) { names, name in
            guard !goesToOtherOrigins(name), !names.contains(where: { $0.equalsIgnoringCase(name) }) else { return }
            names.append(name)
        }
    }

    /// Returns whether a header field may go to another origin: it is harmless, or the options allow it.
    func goesToOtherOrigins(_ name: String) -> Bool {
        // The old host name would make the new server choose the wrong site.
        guard !name.equalsIgnoringCase("Host") else { return false }
        if options.headersToOtherOrigins.contains(where: { $0.equalsIgnoringCase(name) }) { return true }
        return Self.harmlessHeaders.contains(name.lowercased()) && !carriesCredentials(in: name)
    }

    /// The names in lower case.
    private static let harmlessHeaders: Set<String> = [
        // The CORS-safelisted ones (https://fetch.spec.whatwg.org/#cors-safelisted-request-header).
        "accept", "accept-language", "content-language", "content-type", "range",
        // These describe the body.
        "content-encoding", "content-length", "content-range",
        // These state what the client accepts.
        "accept-encoding", "cache-control", "user-agent",
        // Without these, a request would change another version, or a range would be joined to one.
        "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since",
        // Without these, events are lost, or a request is processed twice.
        "idempotency-key", "last-event-id",
        // The protocols of resumable uploads.
        "tus-resumable", "upload-complete", "upload-draft-interop-version", "upload-length", "upload-offset",
    ]
}

extension NetworkResponse {
    /// Whether an origin other than the requested one influenced the response.
    package var passedAnotherOrigin: Bool {
        request.map { $0.departures.count > 0 } ?? false || isFromElsewhere
    }

    /// Returns whether the request's origin sent the response. False after a redirect through another origin, even if
    /// it came back.
    package func isFromOrigin(of request: NetworkRequest) -> Bool {
        !isFromElsewhere && (self.request ?? request).departures.count == request.departures.count
    }

    /// Whether the session itself followed a redirect to another origin.
    private var isFromElsewhere: Bool {
        guard let url = ownURL, let asked = request?.url else { return false }
        return !url.hasSameOrigin(as: asked)
    }
}

extension RequestOptions {
    /// Names of header fields that also go to another origin, by a redirect, a link to the next page or the location of
    /// an upload. Default none: only fields that are known to be harmless go there.
    ///
    /// `Host` is never kept.
    public var headersToOtherOrigins: Set<String> {
        get { self[HeadersToOtherOriginsOption.self] }
        set { self[HeadersToOtherOriginsOption.self] = newValue }
    }
}

private enum HeadersToOtherOriginsOption: RequestOption { static let defaultValue: Set<String> = [] }
