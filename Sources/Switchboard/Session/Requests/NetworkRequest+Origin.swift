import Foundation
import SwitchboardText

// Where a server led a request: by a redirect, a link to the next page or the place of an upload.
extension NetworkRequest {
    /// Whether a server led the request away from the origin that it was made for, even if it came back, or had a say in
    /// the URL that it was made for.
    package var hasLeftOrigin: Bool { departures.count > 0 || isForeign }

    /// Whether somebody else than the app may have chosen the URL that the request was made for.
    var isForeign: Bool {
        get { departures.isForeign }
        set { trail.departures.isForeign = newValue }
    }

    /// How often that was, and which header fields stayed behind.
    package var departures: Departures { trail.departures }

    /// Removes the header fields that another origin may not see. From then on nothing adds credentials to the request
    /// that is not told to; see ``CredentialOrigins``.
    ///
    /// - Parameter isSameSite: Whether it goes to a host of the same site.
    package mutating func leaveOrigin(isSameSite: Bool = false) {
        let names = headersForOrigin
        for name in names { headers.remove(name) }
        trail.departures.add(names, isSameSite)
    }

    /// This request as it would be, had a server led it where it led an equal one.
    package func led(like other: NetworkRequest) -> NetworkRequest {
        var request = self
        if let url = other.url { request.url = url }
        request.trail.departures = other.departures
        return request
    }

    /// The names of the header fields that would stay behind, each once.
    var headersForOrigin: [String] {
        headers.map(\.name).reduce(into: []) { names, name in
            guard !goesToOtherOrigins(name), !names.contains(where: { $0.equalsIgnoringCase(name) }) else { return }
            names.append(name)
        }
    }

    /// Whether a header field goes with the request to another origin: it is harmless or its options allow it.
    func goesToOtherOrigins(_ name: String) -> Bool {
        // The old host would lead a request to the wrong one.
        guard !name.equalsIgnoringCase("Host") else { return false }
        if options.headersToOtherOrigins.contains(where: { $0.equalsIgnoringCase(name) }) { return true }
        return Self.harmlessHeaders.contains(name.lowercased()) && !carriesCredentials(in: name)
    }

    /// In lower case.
    private static let harmlessHeaders: Set<String> = [
        // The CORS-safelisted ones (https://fetch.spec.whatwg.org/#cors-safelisted-request-header).
        "accept", "accept-language", "content-language", "content-type", "range",
        // They describe the body.
        "content-encoding", "content-length", "content-range",
        // They say what the client can read.
        "accept-encoding", "cache-control", "user-agent",
        // Without them a request would change, or a range join, another version.
        "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since",
        // Without them events are lost, or a request is carried out twice.
        "idempotency-key", "last-event-id",
        // The protocol of an upload in pieces.
        "tus-resumable", "upload-complete", "upload-draft-interop-version", "upload-length", "upload-offset",
    ]
}

extension NetworkResponse {
    /// Whether another origin than the one asked had a say in it.
    package var passedAnotherOrigin: Bool {
        request.map { $0.departures.count > 0 } ?? false || isFromElsewhere
    }

    /// Whether the origin that a request went to answered it; false behind a redirect that led to another one, even if it
    /// came back.
    package func isFromOrigin(of request: NetworkRequest) -> Bool {
        !isFromElsewhere && (self.request ?? request).departures.count == request.departures.count
    }

    /// Whether a session followed a redirect to another origin by itself.
    private var isFromElsewhere: Bool {
        guard let url = ownURL, let asked = request?.url else { return false }
        return !url.hasSameOrigin(as: asked)
    }
}

extension RequestOptions {
    /// Names of header fields that go with the request to another origin too, where a redirect, a link to the next page
    /// or the place of an upload leads. Default none: only fields that are known to be harmless go there.
    ///
    /// `Host` never does.
    public var headersToOtherOrigins: Set<String> {
        get { self[HeadersToOtherOriginsOption.self] }
        set { self[HeadersToOtherOriginsOption.self] = newValue }
    }
}

private enum HeadersToOtherOriginsOption: RequestOption { static let defaultValue: Set<String> = [] }
