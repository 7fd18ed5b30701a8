import Foundation
import Switchboard
import SwitchboardHAR

extension RequestMatcher {
    /// With a header field of that name and value; the name has no case. A field may repeat: one of its values must be
    /// this.
    public func header(_ name: String, _ value: String) -> RequestMatcher {
        adding("header \(name): \(Redaction.standard.value(value, ofHeader: name))") { request in
            let values = request.headers.values(for: name)
            guard !values.isEmpty else { return "there is no header \(name)" }
            guard !values.contains(value) else { return nil }
            let shown = values.map { Redaction.standard.value($0, ofHeader: name) }
            return "header \(name) is \(shown.joined(separator: " and "))"
                + ", not \(Redaction.standard.value(value, ofHeader: name))"
        }
    }

    /// With a header field of that name, whatever its value.
    public func header(_ name: String) -> RequestMatcher {
        adding("header \(name)") { $0.headers.contains(name) ? nil : "there is no header \(name)" }
    }

    /// Without a header field of that name.
    public func withoutHeader(_ name: String) -> RequestMatcher {
        adding("no header \(name)") { $0.headers.contains(name) ? "there is a header \(name)" : nil }
    }

    /// With exactly these bytes for a body.
    public func body(_ bytes: Data) -> RequestMatcher {
        adding("a body of \(bytes.count) bytes") { $0.body == bytes ? nil : "the body is \(Shown.body($0))" }
    }

    /// With exactly this text for a body, in UTF-8.
    public func body(_ text: String) -> RequestMatcher {
        adding("body \(Shown.text(text))") {
            $0.body == Data(text.utf8) ? nil : "the body is \(Shown.body($0))"
        }
    }

    /// With this text somewhere in the body.
    public func body(containing text: String) -> RequestMatcher {
        adding("a body with \(Shown.text(text))") {
            text.isEmpty || $0.text.contains(text) ? nil : "the body is \(Shown.body($0)), without \(Shown.text(text))"
        }
    }

    /// With a body that is the same JSON value: order of members and white space do not matter. Text that is no JSON
    /// matches nothing.
    public func body(json text: String) -> RequestMatcher {
        let wanted = JSONTree(fragment: Data(text.utf8))
        return adding("JSON \(Shown.text(text))") { request in
            guard let wanted else { return "the stub's own JSON cannot be read" }
            guard let sent = JSONTree(fragment: request.body) else {
                return "the body is no JSON: \(Shown.body(request))"
            }
            return sent == wanted ? nil : "the JSON is \(Shown.body(request))"
        }
    }

    /// With a body that is the same JSON value as this one, encoded.
    ///
    /// - Throws: ``/Switchboard/NetworkError/Code/encodingFailed`` over what the encoder threw.
    public func body(
        encoding value: some Encodable, encoder: JSONEncoder = JSONEncoder()
    ) throws(NetworkError) -> RequestMatcher {
        let response = try MockResponse.encoding(value, encoder: encoder)
        return body(json: String(decoding: response.body, as: UTF8.self))
    }

    /// With a field of that name and value in a form body (`application/x-www-form-urlencoded`).
    public func form(_ name: String, _ value: String) -> RequestMatcher {
        adding("form \(Shown.pair(name, value))") { request in
            let values = RecordedRequest.items(of: request.text[...]).filter { $0.name == name }.map { $0.value ?? "" }
            guard !values.isEmpty else { return "the form has no \(name)" }
            guard !values.contains(value) else { return nil }
            return "the form's \(name) is \(Shown.values(values, of: name)), not \(Shown.value(value, of: name))"
        }
    }
}
