import Foundation
import Switchboard
import SwitchboardText

/// A link as it stands in a `Link` field, before it is resolved.
struct LinkValue: Hashable, Sendable {
    /// What stands between `<` and `>`.
    let reference: String
    let parameters: [WebLink.Parameter]

    /// The relation types of the first `rel`, in lower case; further ones do not count ([RFC 8288
    /// §3.3](https://www.rfc-editor.org/rfc/rfc8288#section-3.3)).
    var relations: [String] {
        (parameters.value(of: "rel") ?? "").split { $0 == " " || $0 == "\t" }.map { $0.lowercased() }
    }

    /// The link, when it begins at the resource of this URL and leads to a URL.
    func link(from url: URL?) -> WebLink? {
        guard begins(at: url), let target = URL(reference: reference, relativeTo: url) else { return nil }
        return WebLink(target: target, relations: relations, parameters: parameters)
    }

    /// Whether the link begins at this resource: an `anchor` may make it one between others ([RFC 8288
    /// §3.2](https://www.rfc-editor.org/rfc/rfc8288#section-3.2)).
    func begins(at url: URL?) -> Bool {
        guard let anchor = parameters.value(of: "anchor") else { return true }
        guard let url, let here = URL(reference: url.absoluteString, relativeTo: nil),
            let itself = URL(reference: "", relativeTo: here)
        else { return false }
        return URL(reference: anchor, relativeTo: itself)?.absoluteString == itself.absoluteString
    }
}

extension LinkValue {
    /// The links of `Link` fields by the algorithm of [RFC 8288
    /// appendix B.2](https://www.rfc-editor.org/rfc/rfc8288#appendix-B.2), except that what breaks the syntax is passed
    /// over up to the next comma outside of quotes, where the appendix gives up.
    static func values(in fields: [String]) -> [LinkValue] {
        fields.flatMap { field in
            var scanner = LinkScanner(field)
            return scanner.links()
        }
    }
}
