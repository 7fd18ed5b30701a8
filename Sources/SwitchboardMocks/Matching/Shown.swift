import Foundation
import Switchboard
import SwitchboardHAR

/// Formats values for messages: short, secrets replaced.
enum Shown {
    private static let limit = 200

    static func value(_ value: String, of name: String) -> String {
        Redaction.standard.isSecret(parameter: name) ? Redaction.standard.mask : "\"\(value.prefix(limit))\""
    }

    static func values(_ values: [String], of name: String) -> String {
        values.map { value($0, of: name) }.joined(separator: " and ")
    }

    /// Returns a message that an item is missing among the items of a query.
    static func missing(_ item: URLQueryItem, in items: [URLQueryItem]) -> String {
        let values = items.filter { $0.name == item.name }.map { $0.value ?? "" }
        guard !values.isEmpty else { return "there is no query item \(item.name)" }
        return "query \(item.name) is \(self.values(values, of: item.name))"
            + ", not \(value(item.value ?? "", of: item.name))"
    }

    static func pair(_ name: String, _ value: String) -> String {
        "\(name)="
            + (Redaction.standard.isSecret(parameter: name) ? Redaction.standard.mask : String(value.prefix(limit)))
    }

    static func text(_ text: String) -> String {
        let shown = Redaction.standard.text(text)
        return shown.count > limit ? "\(shown.prefix(limit))…" : shown
    }

    static func body(_ request: RecordedRequest) -> String {
        body(request.body)
    }

    static func body(_ bytes: Data) -> String {
        guard !bytes.isEmpty else { return "empty" }
        guard let sent = String(data: bytes, encoding: .utf8) else { return "\(bytes.count) bytes" }
        return text(sent)
    }
}
