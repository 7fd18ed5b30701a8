import Foundation
import Switchboard
import SwitchboardText

/// Replaces the secrets of exchanges by their names, and stores them, so that ``Scrubber`` finds them elsewhere.
package struct HARRedactor: Sendable {
    package let redaction: Redaction
    /// The secrets replaced so far, written and decoded.
    private(set) var secrets: Set<String> = []

    /// The length in UTF-8 bytes from which a secret is replaced wherever it appears. A shorter one is replaced only
    /// where its name marks it, because it may occur in unrelated text.
    package static let shortest = 6
    /// The mask used when the redaction's mask, such as the default one, is not valid in URLs and markup.
    package static let mask = "REDACTED"

    package init(_ redaction: Redaction) {
        var redaction = redaction
        let mask = redaction.mask
        if mask.isEmpty || !mask.unicodeScalars.allSatisfy(CharacterSet.urlUnreserved.contains) {
            redaction.mask = Self.mask
        }
        self.redaction = redaction
    }

    // MARK: Exchanges

    package mutating func masked(_ entry: HAR.Entry) -> HAR.Entry {
        var entry = entry
        entry.request = masked(entry.request)
        entry.response = masked(entry.response)
        entry.webSocketMessages = entry.webSocketMessages.map { messages in
            messages.map { message in
                var message = message
                let payload = masked(body: message.payload, type: "")
                if payload != message.payload { message.payload = payload }
                return message
            }
        }
        return entry
    }

    package mutating func masked(_ request: HAR.Request) -> HAR.Request {
        var request = request
        request.url = masked(url: request.url)
        request.queryString = HAR.Field.query(of: request.url)
        request.headers = masked(request.headers)
        mask(&request.cookies, of: "Cookie")
        if let body = request.postData {
            let type = body.mimeType.isEmpty ? request.headers.first("Content-Type") ?? "" : body.mimeType
            let data = masked(body: body.data, type: type)
            if data != body.data { request.postData = HAR.PostData(data, mimeType: body.mimeType) }
        }
        return request
    }

    private mutating func masked(_ response: HAR.Response) -> HAR.Response {
        var response = response
        response.headers = masked(response.headers)
        response.trailers = response.trailers.map { masked($0) }
        response.redirectURL = masked(url: response.redirectURL)
        mask(&response.cookies, of: "Set-Cookie")
        let content = response.content
        let data = masked(body: content.data, type: content.mimeType)
        if data != content.data {
            response.content = HAR.Content(data, mimeType: content.mimeType, size: content.size)
        }
        return response
    }

    // MARK: Parts

    private mutating func masked(_ fields: [HAR.Field]) -> [HAR.Field] {
        fields.map { field in
            var value = field.value
            if redaction.isSecret(header: field.name) {
                note(header: field.name, value)
                value = masked(cookies: value, of: field.name) ?? redaction.mask
            } else {
                value = mask(value) { [redaction] in redaction.value($0, ofHeader: field.name) }
            }
            return HAR.Field(name: field.name, value: value)
        }
    }

    /// Returns the names and attributes of cookies without their values, so that a client that stores cookies receives
    /// some. Returns nil for any other field.
    private func masked(cookies: String, of header: String) -> String? {
        let name = header.lowercased()
        guard name == "cookie" || name == "set-cookie", cookies.utf8.contains(.equals) else { return nil }
        return cookies.pieces(between: .semicolon).enumerated().map { index, pair in
            guard name == "cookie" || index == 0 else { return String(pair) }
            guard let equals = pair.utf8.firstIndex(of: .equals) else { return redaction.mask }
            return String(decoding: pair.utf8[...equals], as: UTF8.self) + redaction.mask
        }.joined(separator: ";")
    }

    private mutating func mask(_ cookies: inout [HAR.Cookie], of header: String) {
        guard redaction.isSecret(header: header) else { return }
        for index in cookies.indices {
            note(cookie: cookies[index].value)
            cookies[index].value = redaction.mask
        }
    }

    package mutating func masked(url: String) -> String {
        if let start = url.range(of: "://")?.upperBound, !redaction.isNone {
            let authority = url.utf8[start...].prefix { $0 != .slash && $0 != .questionMark && $0 != .numberSign }
            if let at = authority.lastIndex(of: UInt8(ascii: "@")) {
                note(credentials: String(decoding: authority[..<at], as: UTF8.self))
            }
        }
        return mask(url) { [redaction] in redaction.url($0) }
    }

    /// Returns the text with its secrets replaced by a function of the redaction, and stores the hidden parts.
    package mutating func mask(_ text: String, by function: (String) -> String) -> String {
        let masked = function(text)
        guard masked != text else { return text }
        for piece in MaskedText(masked, mask: redaction.mask).hidden(in: text) { note(written: piece) }
        return masked
    }

    // MARK: Stored secrets

    /// Stores a value as it was written in a URL, a form or a field, and decoded.
    private mutating func note(written text: String) {
        note(text)
        if let decoded = text.removingPercentEncoding { note(decoded) }
        if text.utf8.contains(.plus), let decoded = text.replacingBytes([.plus: " "]).removingPercentEncoding {
            note(decoded)
        }
    }

    private mutating func note(header name: String, _ value: String) {
        switch name.lowercased() {
        case "cookie" where value.utf8.contains(.equals):
            for cookie in HAR.Cookie.sent(value) { note(cookie: cookie.value) }
        case "set-cookie" where value.utf8.contains(.equals):
            if let cookie = HAR.Cookie.received(value) { note(cookie: cookie.value) }
        default:
            note(value)
            // The token behind a scheme (RFC 9110 §11.4).
            guard let blank = value.utf8.firstIndex(of: .space) else { return }
            let credentials = String(decoding: value.utf8[blank...].trimmedOfBlanks, as: UTF8.self)
            note(credentials)
            if value.utf8[..<blank].equalsLowercase("basic"), let data = Data(base64Encoded: credentials) {
                note(credentials: String(decoding: data, as: UTF8.self))
            }
        }
    }

    /// Stores the secrets of `user:password`.
    private mutating func note(credentials: String) {
        note(written: credentials)
        guard let colon = credentials.utf8.firstIndex(of: .colon) else { return }
        note(written: String(decoding: credentials.utf8[colon...].dropFirst(), as: UTF8.self))
    }

    private mutating func note(cookie value: String) {
        let value = value.trimmingCharacters(in: CharacterSet(charactersIn: "\""))
        // Servers write this value to delete a cookie.
        if value != "deleted" { note(written: value) }
    }

    package mutating func note(_ secret: String) {
        let secret = secret.trimmingCharacters(in: .whitespacesAndNewlines)
        guard secret.utf8.count >= Self.shortest, !secret.contains(redaction.mask) else { return }
        secrets.insert(secret)
    }
}

extension [HAR.Field] {
    /// Returns the value of the first field with that name, in any case.
    package func first(_ name: String) -> String? {
        first { $0.name.lowercased() == name.lowercased() }?.value
    }
}
