import Foundation
import Switchboard
import SwitchboardText

/// A link that a response has in its `Link` field ([RFC 8288 §3](https://www.rfc-editor.org/rfc/rfc8288#section-3)); see
/// `NetworkResponse.links`.
public struct WebLink: Sendable, Hashable {
    /// What stands behind a link, a `title` for instance.
    public struct Parameter: Sendable, Hashable {
        /// The name, in lower case.
        public let name: String
        /// The value, without quotes; empty when there is none.
        public let value: String
    }

    /// Where it leads, resolved against the response's URL.
    public let target: URL
    /// What the target is to this response: `next`, `prev`, `license`, a URL for a relation of the server's own. In
    /// lower case, because they compare without case (§2.1).
    public let relations: [String]
    /// Every parameter in the order they came, repeats kept.
    public let parameters: [Parameter]

    /// The value of the first parameter of that name, in any case; nil when there is none.
    public subscript(parameter name: String) -> String? {
        parameters.value(of: name)
    }

    /// The title for people: that of `title*` ([RFC 8187](https://www.rfc-editor.org/rfc/rfc8187)) before the plain one.
    public var title: String? {
        self[parameter: "title*"].flatMap(String.init(extendedValue:)) ?? self[parameter: "title"]
    }
}

extension WebLink: CustomStringConvertible, CustomReflectable {
    /// Relations and target, secrets replaced.
    public var description: String {
        "\(relations.joined(separator: " ")): \(Redaction.standard.url(target.absoluteString))"
    }

    /// Shows the redacted line only, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension [WebLink.Parameter] {
    /// The first of that name counts ([RFC 8288 §3.3](https://www.rfc-editor.org/rfc/rfc8288#section-3.3), §3.4.1).
    func value(of name: String) -> String? {
        first { $0.name.equalsIgnoringCase(name) }?.value
    }
}

extension String {
    /// Decodes an extended value ([RFC 8187 §3.2](https://www.rfc-editor.org/rfc/rfc8187#section-3.2)):
    /// `UTF-8'de'n%c3%a4chstes`. Nil for another charset, and for what is none.
    fileprivate init?(extendedValue: String) {
        let parts = extendedValue.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, String(parts[0]).equalsIgnoringCase("UTF-8"),
            let text = String(parts[2]).removingPercentEncoding
        else { return nil }
        self = text
    }
}
