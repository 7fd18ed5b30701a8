import Foundation
import Switchboard
import SwitchboardText

/// An unresolved link of a `Link` field.
struct LinkValue: Hashable, Sendable {
    /// The text between `<` and `>`.
    let reference: String
    let parameters: [WebLink.Parameter]

    /// The relation types of the first `rel`, in lower case. Further ones do not count ([RFC 8288
    /// §3.3](https://www.rfc-editor.org/rfc/rfc8288#section-3.3)).
    var relations: [String] {
        (parameters.value(of: "rel") ?? "").split { $0 == " " || $0 == "\t" }.map { $0.lowercased() }
    }

    /// Returns the resolved link, or nil when it belongs to another resource than this URL's or its target is not a
    /// URL.
    func link(from url: URL?) -> WebLink? {
        guard begins(at: url), let target = URL(reference: reference, relativeTo: url) else { return nil }
        return WebLink(target: target, relations: relations, parameters: parameters)
    }

    /// Returns whether the link belongs to this resource. An `anchor` may make it a link of another one ([RFC 8288
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
    /// Parses `Link` fields with the algorithm of [RFC 8288 appendix
    /// B.2](https://www.rfc-editor.org/rfc/rfc8288#appendix-B.2). Unlike the appendix, it skips a syntax error up to
    /// the next comma outside of quotes, and continues there.
    static func values(in fields: [String]) -> [LinkValue] {
        fields.flatMap { field in
            var scanner = LinkScanner(field)
            return scanner.links()
        }
    }
}
