import Foundation
import Switchboard
import SwitchboardJSON
import SwitchboardHAR
import SwitchboardText

extension RequestMatcher {
    /// Adds a condition: a header field with that name, in any case, and that value. One value of a repeated field is
    /// enough.
    public func header(_ name: String, _ value: String) -> RequestMatcher {
        adding("header \(name): \(Redaction.standard.value(value, ofHeader: name))") { request in
            let values = request.headers.values(for: name)
            guard !values.isEmpty else { return "there is no header \(name)" }
            guard !values.contains(where: value.hasBytes) else { return nil }
            let shown = values.map { Redaction.standard.value($0, ofHeader: name) }.joined(separator: " and ")
            let wanted = Redaction.standard.value(value, ofHeader: name)
            return "header \(name) is \(MessageText.difference(shown, wanted))"
        }
    }

    /// Adds a condition: a header field with that name, whatever its value.
    public func header(_ name: String) -> RequestMatcher {
        adding("header \(name)") { $0.headers.contains(name) ? nil : "there is no header \(name)" }
    }

    /// Adds a condition: no header field with that name.
    public func withoutHeader(_ name: String) -> RequestMatcher {
        adding("no header \(name)") { $0.headers.contains(name) ? "there is a header \(name)" : nil }
    }

    /// Adds a condition: a body of exactly these bytes.
    public func body(_ bytes: Data) -> RequestMatcher {
        adding("a body of \(bytes.count) bytes") { $0.body == bytes ? nil : "the body is \(MessageText.body($0.body))" }
    }

    /// Adds a condition: a body of exactly this text, in UTF-8.
    public func body(_ text: String) -> RequestMatcher {
        adding("body \(MessageText.text(text))") {
            $0.body == Data(text.utf8) ? nil : "the body is \(MessageText.body($0.body, not: Data(text.utf8)))"
        }
    }

    /// Adds a condition: a body that contains this text.
    public func body(containing text: String) -> RequestMatcher {
        adding("a body with \(MessageText.text(text))") {
            text.isEmpty || $0.text.utf8.firstRange(of: text.utf8) != nil
                ? nil : "the body is \(MessageText.body($0.body)), without \(MessageText.text(text))"
        }
    }

    /// Adds a condition: a body that is the same JSON value. Order of members and white space do not matter. Invalid
    /// JSON in `text` matches nothing.
    public func body(json text: String) -> RequestMatcher {
        let wanted = JSONTree(fragment: Data(text.utf8))
        return adding("JSON \(MessageText.text(text))") { request in
            guard let wanted else { return "the stub's own JSON cannot be read" }
            guard let sent = JSONTree(fragment: request.body) else {
                return "the body is no JSON: \(MessageText.body(request.body))"
            }
            return sent == wanted ? nil : "the JSON is \(MessageText.body(request.body, not: Data(text.utf8)))"
        }
    }

    /// Adds a condition: a body that is the same JSON value as this one, encoded.
    ///
    /// - Throws: ``/Switchboard/NetworkError/Code/encodingFailed`` with the encoder's error as its cause.
    public func body(
        encoding value: some Encodable, encoder: JSONEncoder = JSONEncoder()
    ) throws(NetworkError) -> RequestMatcher {
        let response = try MockResponse.encoding(value, encoder: encoder)
        return body(json: String(decoding: response.body, as: UTF8.self))
    }

    /// Adds a condition: a field with that name and value in a form body (`application/x-www-form-urlencoded`).
    public func form(_ name: String, _ value: String) -> RequestMatcher {
        adding("form \(MessageText.pair(name, value))") { request in
            let values = FormBody.decode(request.body).filter { $0.name.hasBytes(of: name) }.map { $0.value ?? "" }
            guard !values.isEmpty else { return "the form has no \(name)" }
            guard !values.contains(where: value.hasBytes) else { return nil }
            let (shown, wanted) = (MessageText.values(values, of: name), MessageText.value(value, of: name))
            return "the form's \(name) is \(MessageText.difference(shown, wanted))"
        }
    }
}

/// Formats values for messages, truncated and with secrets replaced.
enum MessageText {
    private static let limit = 200

    static func value(_ value: String, of name: String) -> String {
        Redaction.standard.isSecret(parameter: name) ? Redaction.standard.mask : "\"\(value.prefix(limit))\""
    }

    static func values(_ values: [String], of name: String) -> String {
        values.map { value($0, of: name) }.joined(separator: " and ")
    }

    static func missing(_ item: URLQueryItem, in items: [URLQueryItem]) -> String {
        different([item], from: items.filter { $0.name.hasBytes(of: item.name) })
    }

    /// Returns a message that the query items of one name have other values. At least one item is wanted.
    static func different(_ wanted: [URLQueryItem], from sent: [URLQueryItem]) -> String {
        let name = wanted[0].name
        guard !sent.isEmpty else { return "there is no query item \(name)" }
        func shown(_ items: [URLQueryItem]) -> String { values(items.map { $0.value ?? "" }, of: name) }
        return "query \(name) is \(difference(shown(sent), shown(wanted)))"
    }

    /// Returns the text of what was sent and of what was wanted.
    static func difference(_ sent: String, _ wanted: String) -> String {
        "\(sent), not \(wanted)" + hiddenDifference(sent, wanted)
    }

    /// Returns words for two different values whose texts look the same.
    static func hiddenDifference(_ one: String, _ other: String) -> String {
        guard one == other else { return "" }
        return one.hasBytes(of: other) ? "; the difference is in a part that is not shown" : ", in other bytes"
    }

    static func pair(_ name: String, _ value: String) -> String {
        "\(name)="
            + (Redaction.standard.isSecret(parameter: name) ? Redaction.standard.mask : String(value.prefix(limit)))
    }

    static func text(_ text: String) -> String {
        // Each stub that does not match makes a message, and masking a large body takes seconds.
        let shown = Redaction.standard.text(String(text.prefix(1 << 14)))
        return shown.count > limit ? "\(shown.prefix(limit))…" : shown
    }

    /// Returns a body, and words if it looks like another one.
    static func body(_ bytes: Data, not other: Data) -> String {
        let shown = body(bytes)
        return shown + hiddenDifference(shown, body(other))
    }

    static func body(_ bytes: Data) -> String {
        guard !bytes.isEmpty else { return "empty" }
        guard let sent = String(data: bytes, encoding: .utf8) else { return "\(bytes.count) bytes" }
        return text(sent)
    }
}
