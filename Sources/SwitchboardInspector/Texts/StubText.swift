import Foundation
import Switchboard
import SwitchboardHAR
import SwitchboardText

/// Writes the exchanges of a call as Swift code that stubs them, for a test:
/// `session.stub(.get("https://api.example.com/a"), with: .status(503), .json("[]"))`.
enum StubText {
    /// Returns one statement for each method and URL, with the responses in their order. Masked parts of a URL match
    /// any text. The stored response of a cache replaces the 304 or the failure for which the cache used it.
    static func text(_ exchanges: [(InspectedExchange, HAR.Entry)], _ masking: TextMasking) -> String {
        let mask = masking.redaction.mask
        var statements: [(matcher: String, responses: [String])] = []
        var last: InspectedExchange?
        for (exchange, entry) in exchanges {
            guard let response = response(to: entry, exchange.end, masking) else { continue }
            let matcher = matcher(of: entry.request, mask)
            if let index = statements.firstIndex(where: { $0.matcher == matcher }) {
                if exchange.cache == .revalidated || exchange.cache == .stale, last?.attempt == exchange.attempt {
                    statements[index].responses.removeLast()
                }
                statements[index].responses.append(response)
            } else {
                statements.append((matcher, [response]))
            }
            last = exchange
        }
        return statements.map { matcher, responses in
            let lines = responses.map { "    " + $0 }.joined(separator: ",\n")
            return "session.stub(\n    \(matcher), with:\n\(lines))"
        }.joined(separator: "\n")
    }

    private static func matcher(of request: HAR.Request, _ mask: String) -> String {
        let url = literal(openURL(request.url, mask))
        let known = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"]
        guard known.contains(request.method) else {
            return ".method(HTTPMethod(rawValue: \(literal(request.method))), \(url))"
        }
        return ".\(request.method.lowercased())(\(url))"
    }

    /// Returns a URL without user and fragment, with a wildcard for each masked segment, and without the masked items of
    /// its query.
    private static func openURL(_ url: String, _ mask: String) -> String {
        let parts = url.prefix { $0 != "#" }.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var segments = (parts.first ?? "").split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        // The scheme, an empty segment, the authority, and then the path.
        let authority = url.schemeMark != nil ? 2 : -1
        for index in segments.indices where segments[index].contains(mask) {
            segments[index] =
                index == authority ? segments[index].split(separator: "@").last.map(String.init) ?? "" : "*"
        }
        let items = (parts.count > 1 ? parts[1] : "").split(separator: "&").filter { !$0.contains(mask) }
        return segments.joined(separator: "/") + (items.isEmpty ? "" : "?" + items.joined(separator: "&"))
    }

    /// Returns the code of a response, or nil for a canceled exchange.
    private static func response(
        to entry: HAR.Entry, _ end: InspectedExchange.End?, _ masking: TextMasking
    ) -> String? {
        guard entry.response.status != 0 else {
            guard case .failure(let code)? = end?.outcome else { return nil }
            return failure(code, masking)
        }
        let mask = masking.redaction.mask
        if let messages = entry.webSocketMessages { return webSocket(entry.response, messages, mask) }
        if case .failure(let code)? = end?.outcome {
            // Only the length of what arrived matters: a stub announces more by itself.
            guard code == .truncatedBody, let count = end?.bodySize, entry.response.status == 200 else {
                return failure(code, masking)
            }
            return ".truncated(after: \(count))"
        }
        let (status, content) = (entry.response.status, entry.response.content)
        let type = content.mimeType
        var arguments = status == 200 ? "" : ", statusCode: \(status)"
        func headers(except standard: String?) -> String {
            let fields = entry.response.headers.compactMap { field -> HAR.Field? in
                var field = field
                let name = field.name.lowercased()
                if name == "location" { field.value = openURL(field.value, mask) }
                let isKept = kept.contains(name) || name == "content-type" && field.value != standard
                return isKept && !field.value.contains(mask) ? field : nil
            }
            guard !fields.isEmpty else { return "" }
            return ", headers: ["
                + fields.map { "\(literal($0.name)): \(literal($0.value))" }.joined(separator: ", ") + "]"
        }
        if let reason = end?.omittedBody {
            return ".status(\(status)\(headers(except: nil)))  /* without its body: \(reason) */"
        }
        guard let text = content.text, content.size > 0 else {
            return ".status(\(status)\(headers(except: nil)))"
        }
        if content.encoding != nil {
            arguments += headers(except: "application/octet-stream")
            return ".data(Data(base64Encoded: \(literal(text))) ?? Data()\(arguments))"
        }
        let isJSON = type.prefix { $0 != ";" } == "application/json"
        arguments += headers(except: isJSON ? "application/json" : "text/plain; charset=utf-8")
        return ".\(isJSON ? "json" : "text")(\(literal(text))\(arguments))"
    }

    private static func failure(_ code: NetworkError.Code, _ masking: TextMasking) -> String {
        code.isKnown
            ? ".failure(.\(code.rawValue))"
            : ".failure(NetworkError.Code(rawValue: \(literal(masking.line(code.rawValue)))))"
    }

    /// Returns the code of a WebSocket whose server sends the received messages, and waits for each sent one.
    private static func webSocket(
        _ response: HAR.Response, _ messages: [HAR.WebSocketMessage], _ mask: String
    ) -> String {
        var arguments = messages.forStub.compactMap { message -> String? in
            let payload = message.payload
            switch (message.type, message.opcode) {
            case ("send", 0..<8): return ".receive"
            case ("receive", 1): return ".text(\(literal(String(decoding: payload, as: UTF8.self))))"
            case ("receive", 2): return ".binary(Data(base64Encoded: \(literal(message.data))) ?? Data())"
            case ("receive", 8):
                guard let (code, reason) = payload.closeFrame else { return ".close(nil)" }
                return reason.isEmpty ? ".close(\(code))" : ".close(\(code), reason: \(literal(reason)))"
            case ("error", _): return ".reset"
            default: return nil
            }
        }
        let field = response.headers.first { $0.name.lowercased() == "sec-websocket-protocol" }
        if let name = field?.value, !name.contains(mask) { arguments.append("subprotocol: \(literal(name))") }
        return ".webSocket(\(arguments.joined(separator: ", ")))"
    }

    /// The fields that a client reacts to.
    private static let kept: Set<String> = [
        "cache-control", "etag", "last-modified", "link", "location", "retry-after", "vary", "www-authenticate",
    ]

    /// Returns a text as a Swift literal. Invisible characters are escaped, because a server chose the text.
    static func literal(_ text: String) -> String {
        let lines = text.utf8.contains(.lineFeed)
        guard !text.unicodeScalars.contains(where: \.isInvisible), !text.utf8.starts(with: "\"\"".utf8),
            !lines || text.utf8.count > 1
        else { return escaped(text) }
        let marks = String(repeating: "#", count: markCount(of: text))
        guard lines else { return "\(marks)\"\(text)\"\(marks)" }
        return "\(marks)\"\"\"\n\(text)\n\"\"\"\(marks)"
    }

    /// Returns the number of number signs around a literal: more than follow any quote or backslash in its text. Counts bytes,
    /// as the compiler does: a combining mark is part of the character before it.
    private static func markCount(of text: String) -> Int {
        var (count, run) = (0, nil as Int?)
        for byte in text.utf8 {
            if byte == .quote || byte == .backslash {
                run = 0
            } else {
                run = byte == .numberSign ? run.map { $0 + 1 } : nil
            }
            if let run { count = max(count, run + 1) }
        }
        return count
    }

    private static func escaped(_ text: String) -> String {
        var literal = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": literal += "\\\(scalar)"
            case "\n": literal += "\\n"
            case "\r": literal += "\\r"
            case _ where scalar.isInvisible:
                literal += "\\u{\(String(scalar.value, radix: 16))}"
            default: literal.unicodeScalars.append(scalar)
            }
        }
        return literal + "\""
    }
}

extension Unicode.Scalar {
    /// Whether the character is a control or changes how others appear, such as their direction: not a line feed or a tab.
    var isInvisible: Bool {
        guard value >= 0x7F else { return value < 0x20 && self != "\n" && self != "\t" }
        return switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
