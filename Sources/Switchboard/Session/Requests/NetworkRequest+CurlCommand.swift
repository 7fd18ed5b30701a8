import Foundation
import SwitchboardText

extension NetworkRequest {
    /// The request as a POSIX shell command, with secrets redacted: `curl -X POST 'https://…' -H '…' --data-raw '…'`.
    public var curlCommand: String {
        curlCommand(redaction: .standard)
    }

    /// Returns the request as a POSIX shell command, with secrets redacted by `redaction`.
    ///
    /// A body that is not text is omitted, and a comment after the command states its size.
    public func curlCommand(redaction: Redaction) -> String {
        let redaction = self.redaction(over: redaction)
        var words = ["curl"]
        if method == .head {
            words.append("--head")
        } else if method != .get || !body.isEmpty {
            words += ["-X", method.rawValue.shellQuoted]
        }
        words.append(redaction.url(url?.absoluteString ?? "").shellQuoted)
        for field in allHeaders {
            let value = redaction.value(field.value, ofHeader: field.name)
            // curl omits a field with an empty value unless a semicolon follows its name.
            words += ["-H", (value.isEmpty ? "\(field.name);" : "\(field.name): \(value)").shellQuoted]
        }
        var note = ""
        if !body.isEmpty {
            if !body.isStreamed, let data = try? body.encode(), let text = String(data: data, encoding: .utf8),
                !text.utf8.contains(0)
            {
                // Without this option, curl would add a type for the body.
                if !allHeaders.contains("Content-Type") { words += ["-H", "Content-Type:".shellQuoted] }
                words += ["--data-raw", redaction.text(text).shellQuoted]
            } else {
                note = "  # with a body of \(body.length.map { "\($0) bytes" } ?? "unknown length")"
            }
        }
        return words.joined(separator: " ") + note
    }
}

extension URLRequest {
    /// The request as a POSIX shell command, with secrets redacted. See ``NetworkRequest/curlCommand``. The fields are
    /// sorted by name, because a `URLRequest` does not keep their order. A body stream is omitted.
    public var curlCommand: String {
        curlCommand(redaction: .standard)
    }

    /// Returns the request as a POSIX shell command, with secrets redacted by `redaction`.
    public func curlCommand(redaction: Redaction) -> String {
        var request = NetworkRequest(HTTPMethod(rawValue: httpMethod ?? "GET"), url)
        request.headers = HTTPHeaders(allHTTPHeaderFields ?? [:])
        if let httpBody { request.body = DataBody(httpBody) }
        let note = httpBody == nil && httpBodyStream != nil ? "  # with a body of unknown length" : ""
        return request.curlCommand(redaction: redaction) + note
    }
}

extension NetworkRequest: CustomStringConvertible, CustomReflectable {
    /// The method and the URL, with secrets redacted.
    public var description: String {
        "\(method.rawValue.filter { !$0.isNewline }) \(url.map { Redaction.standard.url($0.absoluteString) } ?? "(no URL)")"
    }

    /// A mirror with only the redacted line, so that `dump` prints no secret.
    public var customMirror: Mirror {
        Mirror(self, children: ["description": description])
    }
}

extension String {
    fileprivate var shellQuoted: String {
        // The shell would expand a leading tilde to a home folder.
        let isPlain = !isEmpty && utf8.allSatisfy { ASCIISet.unreserved.contains($0) && $0 != UInt8(ascii: "~") }
        return isPlain ? self : "'" + replacingBytes([UInt8(ascii: "'"): #"'\''"#]) + "'"
    }
}
