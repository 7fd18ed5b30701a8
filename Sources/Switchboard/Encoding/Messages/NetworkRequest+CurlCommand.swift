import SwitchboardText
import Foundation

extension NetworkRequest {
    /// The request as a POSIX shell command, with secrets redacted: `curl -X POST 'https://…' -H '…' --data-raw '…'`.
    public var curlCommand: String {
        curlCommand(redaction: .standard)
    }

    /// Returns the request as a POSIX shell command, with secrets redacted by `redaction`.
    ///
    /// The command sends a file by its path, a form by its fields and files, and up to 16 KiB of other bytes from
    /// Base64. For a stream, a compressed body, and a text above 64 KiB, the command names a file `BODY`, which the
    /// reader has to make. A comment after the command then states the size.
    public func curlCommand(redaction: Redaction) -> String {
        let redaction = self.redaction(extending: redaction)
        let shellBody = body.isEmpty ? nil : ShellBody(body, redaction, allHeaders)
        var words = ["curl"]
        if method == .head {
            words.append("--head")
        } else if method != .get || !body.isEmpty {
            words += ["-X", method.rawValue.shellQuoted]
        }
        let text = redaction.url(url?.absoluteString ?? "")
        // curl reads brackets and braces as a list of URLs.
        if text.utf8.contains(where: ASCIISet("[]{}").contains) { words.append("--globoff") }
        // curl removes segments of dots.
        let segments = URLParts(text).path.split(separator: "/")
        if segments.contains(where: { [".", ".."].contains($0.percentDecoded) }) { words.append("--path-as-is") }
        // curl reads a word that begins with a hyphen as an option.
        if text.utf8.first == UInt8(ascii: "-") { words.append("--url") }
        words.append(text.shellQuoted)
        // curl reads a file for a field whose name begins with `@`, and the body of the command may have another length.
        for field in allHeaders
        where field.name.isHTTPToken
            && (body.isEmpty || !field.name.equalsIgnoringCase("Content-Length"))
            && !(shellBody?.isForm == true && field.name.equalsIgnoringCase("Content-Type"))
        {
            let value = redaction.value(field.value, ofHeader: field.name)
            // curl omits a field with an empty value unless a semicolon follows its name.
            words += ["-H", (value.isEmpty ? "\(field.name);" : "\(field.name): \(value)").shellQuoted]
        }
        guard !body.isEmpty else { return words.joined(separator: " ") }
        // Without this option, curl would add a type for the body.
        if shellBody?.isForm != true, !allHeaders.contains("Content-Type") {
            words += ["-H", "Content-Type:".shellQuoted]
        }
        guard let shellBody else {
            let size = body.length.map { "\($0) bytes" } ?? "unknown length"
            return words.joined(separator: " ") + " --data-binary @BODY  # BODY: a file of \(size)"
        }
        return shellBody.input + (words + shellBody.words).joined(separator: " ")
    }
}

private struct ShellBody {
    var words: [String] = []
    /// The command that pipes the body to curl.
    var input = ""
    /// Whether curl writes the `Content-Type`, with another boundary.
    var isForm = false

    /// Creates the words. Nil for a body that a command cannot send.
    init?(_ body: any HTTPBody, _ redaction: Redaction, _ headers: HTTPHeaders) {
        switch body {
        case let file as FileBody where file.range == nil:
            words = ["--data-binary", "@\(file.url.path)".shellQuoted]
        case let form as MultipartBody:
            let parts = form.parts.compactMap { Self.words(for: $0, redaction) }
            isForm = parts.count == form.parts.count
            if isForm {
                words = parts.flatMap(\.self)
            } else if form.parts.allSatisfy({ Self.isPlain($0) && !Self.hasSecret($0, redaction) }),
                let data = try? form.encode()
            {
                sendBase64(data)
            } else {
                return nil
            }
        case is GzipBody: return nil
        default:
            // A larger body would make the command unreadable and the search for secrets slow.
            guard !body.isStreamed, let data = try? body.encode(), data.count <= 65_536 else { return nil }
            if let text = String(data: data, encoding: .utf8), !text.utf8.contains(0) {
                words = ["--data-raw", redaction.text(text).shellQuoted]
            } else if body is DataBody, !headers.contains("Content-Encoding"), !Self.hasSecret(data, redaction) {
                sendBase64(data)
            } else {
                return nil
            }
        }
        if words.isEmpty { return nil }
    }

    /// Sends up to 16 KiB from Base64. A larger body leaves `words` empty.
    private mutating func sendBase64(_ data: Data) {
        guard data.count <= 16 << 10 else { return }
        input = "printf %s \(data.base64EncodedString()) | base64 -d | "
        words = ["--data-binary", "@-"]
    }

    private static func hasSecret(_ part: MultipartBody.Part, _ redaction: Redaction) -> Bool {
        guard !redaction.isSecret(parameter: part.name), !part.content.isStreamed, let data = try? part.content.encode()
        else { return true }
        return hasSecret(data, redaction)
    }

    /// Returns whether bytes that are not UTF-8 contain a secret. Without its zeros, most UTF-16 is readable.
    private static func hasSecret(_ data: Data, _ redaction: Redaction) -> Bool {
        [data, data.filter { $0 != 0 }].contains { data in
            guard let text = String(data: data, encoding: .isoLatin1) else { return true }
            return redaction.text(text) != text || redaction.form(text) != text
                || text.contains("Content-Disposition: form-data")
        }
    }

    /// Returns whether curl reads the name and the media type of a part unchanged, and not as the path of a file.
    private static func isPlain(_ part: MultipartBody.Part) -> Bool {
        let type = part.headers["Content-Type"] ?? "a/b"
        let words = type.split(separator: ";", omittingEmptySubsequences: false)
        let media = words[0].split(separator: "/", omittingEmptySubsequences: false)
        return !part.name.isEmpty && !part.name.utf8.contains(.equals) && media.count == 2
            && media.allSatisfy { $0.utf8.isHTTPToken }
            && (words.count == 1
                || words.count == 2 && words[1].lowercased().hasPrefix(" charset=")
                    && words[1].utf8.dropFirst(9).isHTTPToken)
    }

    private static func words(for part: MultipartBody.Part, _ redaction: Redaction) -> [String]? {
        guard isPlain(part) else { return nil }
        var options = ""
        if let type = part.headers["Content-Type"] { options += ";type=\(type)" }
        if let name = part.fileName { options += ";filename=\(name.formQuoted)" }
        if let file = part.content as? FileBody, file.range == nil {
            // After `@`, curl adds the name of the file.
            let mark = part.fileName == nil ? "<" : "@"
            return ["--form", "\(part.name)=\(mark)\(file.url.path.formQuoted)\(options)".shellQuoted]
        }
        guard !part.content.isStreamed, let data = try? part.content.encode(), data.count <= 65_536,
            let text = String(data: data, encoding: .utf8), !text.utf8.contains(0)
        else { return nil }
        let value = redaction.isSecret(parameter: part.name) ? redaction.mask : redaction.text(text)
        // `--form-string` takes the value literally, but accepts no options.
        return options.isEmpty
            ? ["--form-string", "\(part.name)=\(value)".shellQuoted]
            : ["--form", "\(part.name)=\(value.formQuoted)\(options)".shellQuoted]
    }
}

extension URLRequest {
    /// The request as a POSIX shell command, with secrets redacted. See ``NetworkRequest/curlCommand``. The fields are
    /// sorted by name, because a `URLRequest` does not keep their order. A body stream is a file `BODY`.
    public var curlCommand: String {
        curlCommand(redaction: .standard)
    }

    /// Returns the request as a POSIX shell command, with secrets redacted by `redaction`.
    public func curlCommand(redaction: Redaction) -> String {
        var request = NetworkRequest(HTTPMethod(rawValue: httpMethod ?? "GET"), url)
        request.headers = HTTPHeaders(allHTTPHeaderFields ?? [:])
        if let httpBody {
            request.body = DataBody(httpBody)
        } else if httpBodyStream != nil {
            request.body = OmittedBody(length: nil)
        }
        return request.curlCommand(redaction: redaction)
    }
}

/// A body whose bytes are not available. A `curl` command names a file `BODY` in its place.
package struct OmittedBody: HTTPBody {
    package let length: Int64?

    package init(length: Int64?) {
        self.length = length
    }

    package var isStreamed: Bool { true }

    package func encode() throws -> Data {
        throw NetworkError(.encodingFailed, reason: "the bytes of this body are not available")
    }
}

extension NetworkRequest: DumpedAsDescription {
    /// The method and the URL, with secrets redacted.
    public var description: String {
        let redaction = redaction(extending: .standard)
        return
            "\(method.rawValue.filter { !$0.isNewline }) \(url.map { redaction.url($0.absoluteString) } ?? "(no URL)")"
    }
}

extension String {
    fileprivate var formQuoted: String {
        "\"" + replacingBytes([.backslash: #"\\"#, .quote: #"\""#]) + "\""
    }

    fileprivate var shellQuoted: String {
        // The shell would expand a leading tilde to a home folder.
        let isPlain = !isEmpty && utf8.allSatisfy { ASCIISet.unreserved.contains($0) && $0 != UInt8(ascii: "~") }
        return isPlain ? self : "'" + replacingBytes([.apostrophe: #"'\''"#]) + "'"
    }
}
