import Foundation
import Switchboard
import SwitchboardText

extension NetworkResponse {
    /// The links of the `Link` fields that begin at this response, in order ([RFC 8288
    /// §3](https://www.rfc-editor.org/rfc/rfc8288#section-3)).
    ///
    /// Relative ones are resolved against `url`. Left out are what breaks the syntax, what leads to no URL, and what
    /// an `anchor` makes a link between others (§3.2).
    public var links: [WebLink] {
        linkValues.compactMap { $0.link(from: base) }
    }

    /// Where the first link of relation `next` leads, without its fragment, and with a mark when another origin than the
    /// one asked had a say in it. Nil when there is none, and for a response
    /// other than 2xx, whose links are not those of a page.
    ///
    /// - Throws: `NetworkError.Code.invalidResponse` when it makes no URL: then nobody can tell what follows.
    func nextPage() throws(NetworkError) -> URL? {
        guard (200..<300).contains(statusCode),
            let next = linkValues.first(where: { $0.relations.contains("next") && $0.begins(at: base) })
        else { return nil }
        guard let target = next.link(from: base)?.target.withoutFragment else {
            let shown = Redaction.standard.url(next.reference).quotedForMessage
            throw NetworkError(.invalidResponse, reason: "the link to the next page, \(shown), is not a URL").with(self)
        }
        return passedAnotherOrigin ? target.chosenElsewhere : target
    }

    private var linkValues: [LinkValue] { LinkValue.values(in: headers.values(for: "Link")) }

    private var base: URL? { url ?? request?.url }
}

extension URL {
    private static let elsewhere = "#chosen-by-another-origin"

    /// Whether it is marked as chosen by another origin than the one asked. The mark survives being stored.
    var isChosenElsewhere: Bool { absoluteString.hasSuffix(Self.elsewhere) }

    /// The URL with that mark in place of its fragment.
    var chosenElsewhere: URL { URL(string: withoutFragment.absoluteString + Self.elsewhere) ?? self }

    /// What is asked for: a fragment is never sent.
    var withoutFragment: URL {
        let text = absoluteString
        guard let hash = text.utf8.firstIndex(of: .numberSign) else { return self }
        return URL(string: String(text[..<hash])) ?? self
    }
}
