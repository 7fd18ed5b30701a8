import Foundation
import Switchboard
import SwitchboardText

extension NetworkResponse {
    /// The links of the `Link` fields that belong to this response, in order ([RFC 8288
    /// §3](https://www.rfc-editor.org/rfc/rfc8288#section-3)).
    ///
    /// Relative links are resolved against `url`. Omitted are links with a syntax error, links whose target is not a
    /// URL, and links that belong to another resource because of an `anchor` (§3.2).
    public var links: [WebLink] {
        linkValues.compactMap { $0.link(from: base) }
    }

    /// Returns the target of the first link with relation `next`, without its fragment. The URL is marked
    /// when another origin than the requested one led to it. Nil without such a link, and for a response
    /// other than 2xx, whose links do not belong to a page.
    ///
    /// - Throws: `NetworkError.Code.invalidResponse` when the target is not a URL.
    func nextPage() throws(NetworkError) -> URL? {
        guard (200..<300).contains(statusCode),
            let next = linkValues.first(where: { $0.relations.contains("next") && $0.hasContext(base) })
        else { return nil }
        guard let target = next.link(from: base)?.target.withoutFragment else {
            let shown = Redaction.standard.url(next.reference).quotedForMessage
            throw NetworkError(.invalidResponse, reason: "the link to the next page, \(shown), is not a URL").with(self)
        }
        return passedAnotherOrigin ? target.markedAsFromAnotherOrigin : target
    }

    private var linkValues: [LinkValue] { LinkValue.values(in: headers.values(for: "Link")) }

    private var base: URL? { url ?? request?.url }
}

extension URL {
    private static let anotherOriginMark = "#chosen-by-another-origin"

    /// Whether the URL is marked as chosen by another origin. The mark is part of the URL's text, so it can be stored.
    var isFromAnotherOrigin: Bool { absoluteString.hasSuffix(Self.anotherOriginMark) }

    /// The URL with the mark in place of its fragment.
    var markedAsFromAnotherOrigin: URL { URL(string: withoutFragment.absoluteString + Self.anotherOriginMark) ?? self }

    /// The URL without its fragment.
    var withoutFragment: URL {
        let text = absoluteString
        guard let hash = text.utf8.firstIndex(of: .numberSign) else { return self }
        return URL(string: String(text[..<hash])) ?? self
    }
}
