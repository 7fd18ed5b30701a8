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
        var choices = Choices(bytes)
        let redactor = Redactor.chosen(&choices)
        let field = choices.lastElement([
            "Location", "Referer", "Sec-WebSocket-Protocol", "X-Note", "Authorization", "Set-Cookie",
        ])
        let text = String(decoding: choices.all(), as: UTF8.self)
        let results = [redactor.url(text), redactor.form(text), redactor.pairs(in: text), redactor.text(text)]
        let value = redactor.value(text, ofHeader: field)
        check(!redactor.isSecret(header: field) || value == redactor.mask, "\(field): \(text) became \(value)")
        check(!redactor.isEmpty || (results + [value]).allSatisfy { $0 == text }, "\(text) became \(results)")
        let body = results[3]
        for limit in [0, 64, 200] {
            let beginning = redactor.beginning(of: Data(text.utf8), limit: limit)
            check(
                text.utf8.count <= limit || (beginning?.utf8.count ?? 0) <= limit,
                "the beginning is longer than \(limit) bytes")
        }
        // A text without names has no secrets.
        let isPlain = text.utf8.allSatisfy { $0 == 0x20 || (0x61...0x7A).contains($0) }
        check(!isPlain || body == text, "\(text) became \(body)")
    } read: { bytes in
        let text = String(bytes)
        var redaction = Redaction.standard
        _ = (redaction.text(text), redaction.url(text), redaction.form(text))
        redaction.mask = "REDACTED"
        _ = redaction.text(text)
    }

    private static let planted = Target("planted") { bytes in
        var choices = Choices(bytes)
        let redactor = Redactor.chosen(&choices, hasNames: true)
        let secret = choices.lastElement(Secret.all)
        let document = Document(&choices, secret, ownName: redactor.ownName)
        // A plain value that is made of the bytes may have the secret too.
        guard !document.hasForeignSecret else { return }
        func checkHidden(_ result: String, _ text: @autoclosure () -> String) {
            let isHidden = !secret.isWritten(in: result)
            check(isHidden, "\(document.text.debugDescription) \(text()): \(result)")
        }
        let results = [
            redactor.text(document.text), redactor.beginning(of: Data(document.text.utf8), limit: 200) ?? "",
            document.isURL ? redactor.url(document.text) : "", document.isForm ? redactor.form(document.text) : "",
        ]
        for result in results { checkHidden(result, "became") }
        let redaction = redactor.redaction
        // An archive stores a body in the encoding that it has.
        for encoding in [String.Encoding.utf8, .isoLatin1, .utf16LittleEndian, .utf32BigEndian] {
            guard let body = document.text.data(using: encoding) else { continue }
            var masking = ExchangeMasking(redaction)
            let masked = masking.masked(body: body, type: document.type)
            checkHidden(String(data: masked, encoding: encoding) ?? secret.text, "in \(encoding) became")
            if document.isMultipart, encoding == .utf8 || encoding == .isoLatin1 {
                let parts = masking.masked(body: body, type: "multipart/form-data; boundary=b")
                checkHidden(String(data: parts, encoding: encoding) ?? secret.text, "in \(encoding) as parts became")
            }
            // The archive masks the secret of one body in all others.
            guard encoding == .utf8, document.isStored else { continue }
            let stored = masking.storedSecrets
            for form in [secret.text, secret.escaped, secret.content] {
                let other = stored.masked("a \(form) b")
                check(!other.contains(form), "\(document.text.debugDescription) leaves \(form) in \(other)")
            }
        }
        guard document.isJSON else { return }
        // The error of a wrong type shows a part of the body, with the standard names.
        guard redactor.ownName == nil else { return }
        let data = Data(document.text.utf8)
        guard let error = Result(catching: { try FastJSONDecoder().decode([Int].self, from: data) }).failure else {
            return
        }
        checkHidden(DecodingFailure.describe(error, in: data, as: [Int].self), "gives the error")
    } read: {
        _ = Redaction.standard.text(String($0))
    }
}

extension Redactor {
    private static let (own, few) = ("zebra", Redactor(headerNames: ["X-Zebra"], parameterNames: ["zebra"]))
    private static let standardWithOwn = standard.adding(
        headerNames: ["X-Zebra"], parameterNames: ["zebra"], memberNames: ["zebra"])

    /// A redactor with a mask. The zero that the corpus has behind each input selects the standard one.
    fileprivate static func chosen(_ choices: inout Choices, hasNames: Bool = false) -> Redactor {
        let none = Redactor(headerNames: [], parameterNames: [])
        var redactor = choices.lastElement([standard, standardWithOwn, few] + (hasNames ? [] : [none]))
        redactor.mask = choices.lastElement(["<redacted>", "REDACTED", "***", "[x]", "", "a&b=c", "\""])
        return redactor
    }

    /// The name that is not one of the standard redactor's.
    fileprivate var ownName: String? { headerNames.contains("xzebra") ? Self.own : nil }

    private static let redactions = (
        own: Redaction.standard.adding(headerNames: ["X-Zebra"], parameterNames: [own]),
        few: Redaction(headerNames: ["X-Zebra"], parameterNames: [own])
    )

    /// The redaction with the names and the mask of this redactor.
    fileprivate var redaction: Redaction {
        let (own, few) = Self.redactions
        var redaction = ownName == nil ? Redaction.standard : isSecret(header: "Cookie") ? own : few
        redaction.mask = mask
        return redaction
    }
}

/// A secret, and the forms in which a text may contain it.
private struct Secret {
    let text: String
    /// In a URL, within the quotes of JSON, and in markup.
    let escaped: String, content: String, entities: String
    private let forms: [String]

    init(_ text: String) {
        self.text = text
        (escaped, content, entities) = (text.percentEncoded(), text.quotedContent, text.entities)
        forms = [escaped, content, content.quotedContent, entities].filter { $0 != text } + [text]
    }

    static let all = [Secret("hunter2hunter2"), Secret("hun/ter+2%é\"\\2")]

    func isWritten(in text: String) -> Bool { forms.contains { text.contains($0) } }
}

extension String {
    /// The text as JSON writes it.
    fileprivate var quoted: String { String(decoding: (try? JSONEncoder().encode(self)) ?? Data(), as: UTF8.self) }

    /// The text within the quotes of JSON.
    fileprivate var quotedContent: String { String(quoted.dropFirst().dropLast()) }

    /// The text in markup.
    fileprivate var entities: String {
        var result = ""
        for scalar in unicodeScalars {
            let isPlain = scalar.properties.isAlphabetic || (0x30...0x39).contains(scalar.value) || scalar == " "
            if isPlain { result.unicodeScalars.append(scalar) } else { result += "&#\(scalar.value);" }
        }
        return result
    }

    fileprivate var oneLine: String { filter { !$0.isNewline && $0 != "\0" } }
}

/// A valid text in JSON, a form, a URL, a head, markup or multipart, some of whose values are secrets.
private struct Document {
    private static let standardNames = [
        "password", "access_token", "clientSecret", "X-Api-Key", "refresh-token", "db.password", "new_password",
        "apiKey",
    ]
    private static let plainNames = ["name", "id", "items", "message", "a", "note", "created_at"]

    private(set) var text = ""
    private(set) var isJSON = false
    private(set) var isURL = false
    private(set) var isForm = false
    private(set) var isMultipart = false
    /// Whether one of its secrets is a value of its own, which an archive stores.
    private(set) var isStored = false
    /// Whether a value that is no secret contains the secret.
    private(set) var hasForeignSecret = false
    private let secret: Secret
    /// The names of secrets, which are the app's own or standard ones.
    private let names: [String]
    private let isOwn: Bool
    /// What precedes the secrets of a form.
    private let scheme: String

    var type: String { isForm ? "application/x-www-form-urlencoded" : isJSON ? "application/json" : "text/plain" }

    /// Without standard names, all secrets have the app's own name.
    init(_ choices: inout Choices, _ secret: Secret, ownName: String?) {
        self.secret = secret
        isOwn = ownName != nil
        scheme = choices.lastElement(["", "Bearer ", "basic "])
        names = ownName.map { [String](repeating: $0, count: Self.standardNames.count) } ?? Self.standardNames
        switch choices.number(below: 7) {
        case 0:
            isJSON = true
            text = object(&choices, depth: 0)
        case 1:
            isForm = true
            text = form(&choices)
        case 2:
            isURL = true
            text = url(&choices)
        case 3: text = heads(&choices)
        case 4: text = markup(&choices)
        case 5:
            isMultipart = true
            text = part(&choices)
        default:
            // A document within a string of another one.
            let inner = choices.number(below: 2) == 0 ? object(&choices, depth: 2) : form(&choices)
            isJSON = true
            text = "{\"\(choices.element(Self.plainNames))\": \(inner.quoted)}"
        }
    }

    private mutating func object(_ choices: inout Choices, depth: Int) -> String {
        var members: [String] = []
        for _ in 0...choices.number(below: 4) {
            let space = choices.element(["", " ", "\n  "])
            if choices.number(below: 3) == 0 {
                let content = secret.content
                let index = choices.number(below: 3)
                let value = ["\"\(content)\"", "\"\(content)\\n\\\"\(content)\"", "[\"\(content)\"]"][index]
                let name = choices.element(names)
                if depth == 0 { isStored = isStored || index != 1 }
                members.append("\(space)\"\(name)\":\(space)\(value)")
            } else {
                let name = choices.element(Self.plainNames)
                switch choices.number(below: depth < 3 ? 5 : 3) {
                case 0: members.append("\(space)\"\(name)\":\(space)\(choices.number(below: 200))")
                case 1: members.append("\(space)\(name.quoted):\(space)\(plain(&choices).quoted)")
                case 2:
                    members.append("\(space)\(plain(&choices).quoted):\(space)null")
                case 3: members.append("\(space)\"\(name)\":\(object(&choices, depth: depth + 1))")
                default: members.append("\(space)\"\(name)\":[\(object(&choices, depth: depth + 1))]")
                }
            }
        }
        return "{" + members.joined(separator: ",") + "}"
    }

    /// A value that is no secret.
    private mutating func plain(_ choices: inout Choices) -> String {
        let text = choices.text()
        hasForeignSecret = hasForeignSecret || secret.isWritten(in: text)
        return text
    }

    private mutating func form(_ choices: inout Choices) -> String {
        var pairs: [String] = []
        for _ in 0...choices.number(below: 4) {
            if choices.number(below: 2) == 0 {
                let name = choices.element(names)
                let written = choices.element([name, "user[\(name)]", "user.\(name)"])
                pairs.append("\(written)=\(scheme)\(secret.escaped)")
                isStored = isStored || isForm && scheme.isEmpty
            } else if choices.number(below: 4) == 0 {
                // A URL in a value, before a malformed escape or one that is not UTF-8.
                let inner = "/a?\(choices.element(names))=\(secret.escaped)&b=1"
                let name = choices.element(Self.plainNames)
                pairs.append("\(name)=\(inner.percentEncoded())\(choices.element(["", "%", "%E9", "%zz"]))")
            } else {
                pairs.append("\(choices.element(Self.plainNames))=\(plain(&choices).percentEncoded())")
            }
        }
        return pairs.joined(separator: "&")
    }

    private mutating func url(_ choices: inout Choices) -> String {
        let written = secret.escaped
        let user = choices.element(["", "ann:\(written)@", "\(written)@"])
        let path = plain(&choices).percentEncoded()
        let fragment = choices.element(["", "#\(names[1])=\(written)", "#\(plain(&choices).percentEncoded())"])
        return "https://\(user)a.example/\(path)?\(form(&choices))\(fragment)"
    }

    private mutating func heads(_ choices: inout Choices) -> String {
        var lines = ["GET /\(plain(&choices).percentEncoded()) HTTP/1.1"]
        for _ in 0...choices.number(below: 4) {
            switch choices.number(below: 4) {
            case 0:
                let scheme = choices.element(["Bearer ", "Basic ", ""])
                lines.append("\(isOwn ? "X-Zebra" : "Authorization"): \(scheme)\(secret.text)")
            case 1:
                let name = choices.element(["Cookie", "X-Api-Key", "X-Auth-Token"])
                lines.append("\(isOwn ? "X-Zebra" : name): \(secret.text); \(secret.text)")
            case 2: lines.append("Host: a.example")
            default: lines.append("X-Note: \(plain(&choices).oneLine)")
            }
        }
        return lines.joined(separator: choices.element(["\n", "\r\n"]))
    }

    private mutating func markup(_ choices: inout Choices) -> String {
        var text = "<a>"
        for _ in 0...choices.number(below: 4) {
            let standard = choices.element(["password", "access_token", "clientSecret", "apiKey"])
            let (name, secret) = (isOwn ? names[0] : standard, secret.entities)
            switch choices.number(below: 4) {
            case 0: text += "<\(name)>\(secret)</\(name)>"
            case 1: text += "<\(name) b=\"\(plain(&choices).entities)\">\(secret)</\(name)>"
            case 2: text += "<b \(name)=\"\(secret)\"/>"
            default: text += "<note>\(plain(&choices).entities)</note>"
            }
        }
        return text + "</a>"
    }

    private mutating func part(_ choices: inout Choices) -> String {
        var text = ""
        for _ in 0...choices.number(below: 3) {
            let isSecret = choices.number(below: 2) == 0
            let name = choices.element(isSecret ? names : Self.plainNames)
            let value: String
            if isSecret {
                let isTwice = choices.number(below: 2) == 1
                value = isTwice ? "\(secret.text)\r\n\(secret.text)" : secret.text
                isStored = isStored || !isTwice
            } else {
                value = plain(&choices).oneLine
            }
            text += "--b\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n"
        }
        return text + "--b--\r\n"
    }
}
