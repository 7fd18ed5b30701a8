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
    /// The relations of the target to this response: `next`, `prev`, `license`, or a URL for a custom relation. They
    /// are in lower case, because case does not matter (§2.1).
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

extension WebLink: CustomStringConvertible, CustomReflectable {
    /// Relations and target, with secrets masked.
    public var description: String {
        "\(relations.joined(separator: " ")): \(Redaction.standard.url(target.absoluteString))"
    }

    /// A mirror with only the masked description, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
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
