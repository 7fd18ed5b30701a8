import Foundation
@testable import Switchboard
@testable import SwitchboardHAR
@testable import SwitchboardJSON
@testable import SwitchboardText

extension Target {
    static let texts = [message, redactor, planted]

    private static let message = Target("message") { bytes in
        let body = Data(bytes)
        let message = ServerMessage(keys: ["message", "error", "detail"])
        let texts = [
            message.text(in: body), message.plainText(in: body, as: "text/plain"), message.title(of: body),
            DecodingFailure.snippet(of: body),
        ]
        for text in texts.compactMap({ $0 }) {
            check(text.unicodeScalars.count <= 1_001, "the message has \(text.unicodeScalars.count) characters")
        }
        guard let error = Result(catching: { try FastJSONDecoder().decode([String: Int].self, from: body) }).failure
        else {
            return
        }
        let text = DecodingFailure.describe(error, in: body, as: [String: Int].self)
        check(!text.breaksHead, "\(text.debugDescription) has two lines")
    } read: {
        _ = ServerMessage(keys: ["message", "error"]).text(in: Data($0))
    }

    private static let redactor = Target("redactor") { bytes in
        let text = String(bytes)
        let redactor = Redactor.standard
        _ = redactor.url(text)
        _ = redactor.form(text)
        _ = redactor.pairs(in: text)
        _ = redactor.value(text, ofHeader: "Location")
        let body = redactor.text(text)
        let beginning = redactor.beginning(of: Data(text.utf8), limit: 64)
        check(
            text.utf8.count <= 64 || (beginning?.utf8.count ?? 0) <= 64, "the beginning is longer than 64 bytes")
        // A text without names has no secrets.
        let isPlain = text.utf8.allSatisfy { $0 == 0x20 || (0x61...0x7A).contains($0) }
        check(!isPlain || body == text, "\(text) became \(body)")
    } read: { bytes in
        let text = String(bytes)
        let redaction = Redaction.standard
        _ = (redaction.text(text), redaction.url(text), redaction.form(text))
    }

    private static let planted = Target("planted") { bytes in
        // A plain value that is made of these bytes may have the secret too.
        guard !String(bytes).contains(Document.secret) else { return }
        var choices = Choices(bytes)
        let document = Document(&choices)
        let redactor = Redactor.standard
        let results = [
            redactor.text(document.text), redactor.beginning(of: Data(document.text.utf8), limit: 200) ?? "",
            document.isURL ? redactor.url(document.text) : "", document.isForm ? redactor.form(document.text) : "",
        ]
        for result in results {
            check(!result.contains(Document.secret), "\(document.text.debugDescription) became \(result)")
        }
        // An archive stores a body in the encoding that it has.
        for encoding in [String.Encoding.utf8, .isoLatin1, .utf16LittleEndian, .utf32BigEndian] {
            guard let body = document.text.data(using: encoding) else { continue }
            var masking = ExchangeMasking(.standard)
            let masked = masking.masked(body: body, type: document.type)
            let text = String(data: masked, encoding: encoding) ?? Document.secret
            check(!text.contains(Document.secret), "\(document.text.debugDescription) in \(encoding) became \(text)")
        }
        guard document.isJSON else { return }
        // The error of a wrong type shows a part of the body.
        let data = Data(document.text.utf8)
        guard let error = Result(catching: { try FastJSONDecoder().decode([Int].self, from: data) }).failure else {
            return
        }
        let text = DecodingFailure.describe(error, in: data, as: [Int].self)
        check(!text.contains(Document.secret), "\(document.text.debugDescription) gives the error \(text)")
    } read: {
        _ = Redaction.standard.text(String($0))
    }
}

/// A valid text in JSON, a form, a URL, a head, markup or multipart, some of whose values are secrets.
private struct Document {
    static let secret = "hunter2hunter2"
    private static let names = [
        "password", "access_token", "clientSecret", "X-Api-Key", "refresh-token", "db.password", "new_password",
        "apiKey",
    ]
    private static let plainNames = ["name", "id", "items", "message", "a", "note", "created_at"]

    private(set) var text = ""
    private(set) var isJSON = false
    private(set) var isURL = false
    private(set) var isForm = false

    var type: String { isForm ? "application/x-www-form-urlencoded" : isJSON ? "application/json" : "text/plain" }

    init(_ choices: inout Choices) {
        switch choices.number(below: 7) {
        case 0:
            isJSON = true
            text = Self.object(&choices, depth: 0)
        case 1:
            isForm = true
            text = Self.form(&choices)
        case 2:
            isURL = true
            text = Self.url(&choices)
        case 3: text = Self.heads(&choices)
        case 4: text = Self.markup(&choices)
        case 5: text = Self.part(&choices)
        default:
            // A document within a string of another one.
            let inner = choices.number(below: 2) == 0 ? Self.object(&choices, depth: 2) : Self.form(&choices)
            isJSON = true
            text = "{\"\(choices.element(Self.plainNames))\": \(Self.quoted(inner))}"
        }
    }

    private static func object(_ choices: inout Choices, depth: Int) -> String {
        var members: [String] = []
        for _ in 0...choices.number(below: 4) {
            let space = choices.element(["", " ", "\n  "])
            if choices.number(below: 3) == 0 {
                let value = choices.element(["\"\(secret)\"", "\"\(secret)\\n\\\"\(secret)\"", "[\"\(secret)\"]"])
                members.append("\(space)\"\(choices.element(names))\":\(space)\(value)")
            } else {
                let name = choices.element(plainNames)
                switch choices.number(below: depth < 3 ? 5 : 3) {
                case 0: members.append("\(space)\"\(name)\":\(space)\(choices.number(below: 200))")
                case 1: members.append("\(space)\(quoted(name)):\(space)\(quoted(choices.text()))")
                case 2: members.append("\(space)\(quoted(choices.text())):\(space)null")
                case 3: members.append("\(space)\"\(name)\":\(object(&choices, depth: depth + 1))")
                default: members.append("\(space)\"\(name)\":[\(object(&choices, depth: depth + 1))]")
                }
            }
        }
        return "{" + members.joined(separator: ",") + "}"
    }

    /// A text as JSON writes it.
    private static func quoted(_ text: String) -> String {
        let data = (try? JSONEncoder().encode(text)) ?? Data()
        return String(decoding: data, as: UTF8.self)
    }

    private static func form(_ choices: inout Choices) -> String {
        var pairs: [String] = []
        for _ in 0...choices.number(below: 4) {
            if choices.number(below: 2) == 0 {
                let name = choices.element(names)
                pairs.append("\(choices.element([name, "user[\(name)]", "user.\(name)"]))=\(secret)")
            } else if choices.number(below: 4) == 0 {
                // A URL in a value, before a malformed escape or one that is not UTF-8.
                let inner = "/a?\(choices.element(names))=\(secret)&b=1"
                pairs.append(
                    "\(choices.element(plainNames))=\(escaped(inner))\(choices.element(["", "%", "%E9", "%zz"]))")
            } else {
                pairs.append("\(choices.element(plainNames))=\(escaped(choices.text()))")
            }
        }
        return pairs.joined(separator: "&")
    }

    private static func escaped(_ text: String) -> String { text.percentEncoded() }

    private static func url(_ choices: inout Choices) -> String {
        let user = choices.element(["", "ann:\(secret)@", "\(secret)@"])
        let path = escaped(choices.text())
        let fragment = choices.element(["", "#access_token=\(secret)", "#\(escaped(choices.text()))"])
        return "https://\(user)a.example/\(path)?\(form(&choices))\(fragment)"
    }

    private static func heads(_ choices: inout Choices) -> String {
        var lines = ["GET /\(escaped(choices.text())) HTTP/1.1"]
        for _ in 0...choices.number(below: 4) {
            switch choices.number(below: 4) {
            case 0: lines.append("Authorization: \(choices.element(["Bearer ", "Basic ", ""]))\(secret)")
            case 1: lines.append("\(choices.element(["Cookie", "X-Api-Key", "X-Auth-Token"])): \(secret); \(secret)")
            case 2: lines.append("Host: a.example")
            default: lines.append("X-Note: \(oneLine(choices.text()))")
            }
        }
        return lines.joined(separator: choices.element(["\n", "\r\n"]))
    }

    private static func oneLine(_ text: String) -> String { text.filter { !$0.isNewline && $0 != "\0" } }

    private static func markup(_ choices: inout Choices) -> String {
        var text = "<a>"
        for _ in 0...choices.number(below: 4) {
            let name = choices.element(["password", "access_token", "clientSecret", "apiKey"])
            switch choices.number(below: 4) {
            case 0: text += "<\(name)>\(secret)</\(name)>"
            case 1: text += "<\(name) b=\"\(entities(choices.text()))\">\(secret)</\(name)>"
            case 2: text += "<b \(name)=\"\(secret)\"/>"
            default: text += "<note>\(entities(choices.text()))</note>"
            }
        }
        return text + "</a>"
    }

    private static func entities(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            let isPlain = scalar.properties.isAlphabetic || (0x30...0x39).contains(scalar.value) || scalar == " "
            if isPlain { result.unicodeScalars.append(scalar) } else { result += "&#\(scalar.value);" }
        }
        return result
    }

    private static func part(_ choices: inout Choices) -> String {
        var text = ""
        for _ in 0...choices.number(below: 3) {
            let isSecret = choices.number(below: 2) == 0
            let name = choices.element(isSecret ? names : plainNames)
            let value = isSecret ? choices.element([secret, "\(secret)\r\n\(secret)"]) : oneLine(choices.text())
            text += "--b\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n"
        }
        return text + "--b--\r\n"
    }
}
