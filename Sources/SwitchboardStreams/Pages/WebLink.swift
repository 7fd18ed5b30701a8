import Foundation
import Switchboard
import SwitchboardText

/// A link of a response's `Link` field ([RFC 8288 §3](https://www.rfc-editor.org/rfc/rfc8288#section-3)). See
/// `NetworkResponse.links`.
public struct WebLink: Sendable, Hashable {
    /// A parameter of a link, for instance its `title`.
    public struct Parameter: Sendable, Hashable {
        /// The name, in lower case.
        public let name: String
        /// The value without quotes, empty for a parameter without a value.
        public let value: String
    }

    /// The target URL, resolved against the response's URL.
    public let target: URL
    /// The relations of the target to this response: `next`, `prev`, `license`, or a URL for a custom relation. In lower
    /// case, because case does not matter (§2.1).
    public let relations: [String]
    /// All parameters in order, including repeated ones.
    public let parameters: [Parameter]

    /// The value of the first parameter with this name, in any case. Nil without one.
    public subscript(parameter name: String) -> String? {
        parameters.value(of: name)
    }

    /// The title for people. `title*` ([RFC 8187](https://www.rfc-editor.org/rfc/rfc8187)) takes precedence over
    /// `title`.
    public var title: String? {
        self[parameter: "title*"].flatMap(String.init(extendedValue:)) ?? self[parameter: "title"]
    }
}

extension WebLink: DumpedAsDescription {
    /// Relations and target, with secrets masked.
    public var description: String {
        "\(relations.joined(separator: " ")): \(Redaction.standard.url(target.absoluteString))"
    }
}

extension [WebLink.Parameter] {
    /// Returns the value of the first parameter with this name ([RFC 8288
    /// §3.3](https://www.rfc-editor.org/rfc/rfc8288#section-3.3), §3.4.1).
    func value(of name: String) -> String? {
        first { $0.name.equalsIgnoringCase(name) }?.value
    }
}

extension String {
    /// Decodes an extended value ([RFC 8187 §3.2](https://www.rfc-editor.org/rfc/rfc8187#section-3.2)) such as
    /// `UTF-8'de'n%c3%a4chstes`. Nil for another charset or another format.
    fileprivate init?(extendedValue: String) {
        let parts = extendedValue.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, String(parts[0]).equalsIgnoringCase("UTF-8"),
            let text = String(parts[2]).removingPercentEncoding
        else { return nil }
        self = text
    }
}

/// An unresolved link of a `Link` field.
struct LinkValue: Hashable, Sendable {
    /// The text between `<` and `>`.
    let reference: String
    let parameters: [WebLink.Parameter]

    /// The relation types of the first `rel`, in lower case. Later `rel` parameters are ignored ([RFC 8288
    /// §3.3](https://www.rfc-editor.org/rfc/rfc8288#section-3.3)).
    var relations: [String] {
        (parameters.value(of: "rel") ?? "").split { $0 == " " || $0 == "\t" }.map { $0.lowercased() }
    }

    /// Returns the resolved link. Nil when its context is another resource, or its target is not a URL.
    func link(from url: URL?) -> WebLink? {
        guard hasContext(url), let target = URL(reference: reference, relativeTo: url) else { return nil }
        return WebLink(target: target, relations: relations, parameters: parameters)
    }

    /// Returns whether the link context is this resource. An `anchor` sets another context ([RFC 8288
    /// §3.2](https://www.rfc-editor.org/rfc/rfc8288#section-3.2)).
    func hasContext(_ url: URL?) -> Bool {
        guard let anchor = parameters.value(of: "anchor") else { return true }
        guard let url, let absolute = URL(reference: url.absoluteString, relativeTo: nil),
            let resource = URL(reference: "", relativeTo: absolute)
        else { return false }
        return URL(reference: anchor, relativeTo: resource)?.absoluteString == resource.absoluteString
    }
}

extension LinkValue {
    /// Parses `Link` fields with the algorithm of [RFC 8288 appendix
    /// B.2](https://www.rfc-editor.org/rfc/rfc8288#appendix-B.2). Unlike the appendix, it skips a syntax error up to
    /// the next comma outside of quotes, and continues there.
    static func values(in fields: [String]) -> [LinkValue] {
        fields.flatMap { field in
            var scanner = FieldScanner(field)
            return scanner.links()
        }
    }
}

extension FieldScanner {
    fileprivate mutating func links() -> [LinkValue] {
        var links: [LinkValue] = []
        while true {
            skipBlanks()
            guard let first = current else { return links }
            if first == .lessThan {
                advance()
                let reference = text { $0 != .greaterThan }
                guard current != nil else { return links }
                advance()
                links.append(LinkValue(reference: reference, parameters: linkParameters()))
            }
            skipToComma()
        }
    }

    /// Parses the parameters (RFC 8288 appendix B.3).
    private mutating func linkParameters() -> [WebLink.Parameter] {
        var parameters: [WebLink.Parameter] = []
        while true {
            skipBlanks()
            guard current == .semicolon else { return parameters }
            advance()
            skipBlanks()
            let name = text { !$0.isBlank && $0 != .equals && $0 != .semicolon && $0 != .comma }
            skipBlanks()
            var value = ""
            if current == .equals {
                advance()
                skipBlanks()
                value =
                    current == .quote
                    ? quotedString().text : text { $0 != .semicolon && $0 != .comma }.trimmedOfBlanks
            }
            if !name.isEmpty { parameters.append(WebLink.Parameter(name: name.lowercased(), value: value)) }
        }
    }
}

extension NetworkResponse {
    /// The links of the `Link` fields that belong to this response, in order ([RFC 8288
    /// §3](https://www.rfc-editor.org/rfc/rfc8288#section-3)).
    ///
    /// Relative links are resolved against `url`. Omitted are links with a syntax error, links whose target is not a
    /// URL, and links that belong to another resource because of an `anchor` (§3.2). The number of links times the length
    /// of `url` is limited to 2 MiB, but at least 32 links are read.
    public var links: [WebLink] {
        linkValues.compactMap { $0.link(from: base) }
    }

    /// Returns the target of the first link with relation `next`, without its fragment. The URL is marked when an
    /// origin other than the requested one chose it. Nil without such a link, and for a response other than 2xx, whose
    /// links do not belong to a page.
    ///
    /// - Throws: `NetworkError.Code.invalidResponse` when the target is not a URL.
    func nextPage() throws(NetworkError) -> URL? {
        guard (200..<300).contains(statusCode),
            let next = linkValues.first(where: { $0.relations.contains("next") && $0.hasContext(base) })
        else { return nil }
        guard let target = next.link(from: base)?.target.withoutFragment else {
            let reference = next.reference.quotedURLForMessage
            throw NetworkError(.invalidResponse, reason: "the link to the next page, \(reference), is not a URL").with(
                self)
        }
        return passedAnotherOrigin ? target.markedAsFromAnotherOrigin : target
    }

    private var linkValues: ArraySlice<LinkValue> {
        // Resolving a link takes time and memory in the length of the URL.
        let limit = max(32, (2 << 20) / max(1, base?.absoluteString.utf8.count ?? 0))
        return LinkValue.values(in: headers.values(for: "Link")).prefix(limit)
    }

    private var base: URL? { url ?? request?.url }
}

extension URL {
    private static let anotherOriginMark = "#chosen-by-another-origin"

    /// Whether the URL is marked as chosen by another origin. The mark is part of the URL's text, so it can be stored.
    var isFromAnotherOrigin: Bool { absoluteString.hasSuffix(Self.anotherOriginMark) }

    var markedAsFromAnotherOrigin: URL { URL(string: withoutFragment.absoluteString + Self.anotherOriginMark) ?? self }

    /// The URL without its fragment.
    var withoutFragment: URL {
        let text = absoluteString
        guard let hash = text.utf8.firstIndex(of: .numberSign) else { return self }
        return URL(string: String(text[..<hash])) ?? self
    }
}
