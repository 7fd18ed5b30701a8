import Foundation
import SwitchboardText

extension NetworkRequest {
    /// The request as a command for a POSIX shell, secrets replaced: `curl -X POST 'https://…' -H '…' --data-raw '…'`.
    public var curlCommand: String {
        curlCommand(redaction: .standard)
    }

    /// The request as a command for a POSIX shell, secrets replaced by a redaction of your choice.
    ///
    /// A body that is no text is left out, and its size noted behind the command.
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
            // An empty value needs a semicolon, else curl leaves the field out.
            words += ["-H", (value.isEmpty ? "\(field.name);" : "\(field.name): \(value)").shellQuoted]
        }
        var note = ""
        if !body.isEmpty {
            if !body.isStreamed, let data = try? body.encode(), let text = String(data: data, encoding: .utf8),
                !text.utf8.contains(0)
            {
                // Without this curl would make up a type for the body.
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
    /// The request as a command for a POSIX shell, secrets replaced; see ``NetworkRequest/curlCommand``. The fields are in
    /// the order of their names, which a `URLRequest` does not keep; a body that is a stream is left out.
    public var curlCommand: String {
        curlCommand(redaction: .standard)
    }

    /// The request as a command for a POSIX shell, secrets replaced by a redaction of your choice.
    public func curlCommand(redaction: Redaction) -> String {
        var request = NetworkRequest(HTTPMethod(rawValue: httpMethod ?? "GET"), url)
        request.headers = HTTPHeaders(allHTTPHeaderFields ?? [:])
        if let httpBody { request.body = DataBody(httpBody) }
        let note = httpBody == nil && httpBodyStream != nil ? "  # with a body of unknown length" : ""
        return request.curlCommand(redaction: redaction) + note
    }
}

extension NetworkRequest: CustomStringConvertible, CustomReflectable {
    /// The method and the URL, secrets replaced.
    public var description: String {
        "\(method.rawValue.filter { !$0.isNewline }) \(url.map { Redaction.standard.url($0.absoluteString) } ?? "(no URL)")"
    }

    /// Shows the redacted line only, so that `dump` prints no secret.
    public var customMirror: Mirror {
        Mirror(self, children: ["description": description])
    }
}

extension String {
    fileprivate var shellQuoted: String {
        // A tilde in front would be a home folder.
        let isPlain = !isEmpty && utf8.allSatisfy { ASCIISet.unreserved.contains($0) && $0 != UInt8(ascii: "~") }
        return isPlain ? self : "'" + replacingBytes([UInt8(ascii: "'"): #"'\''"#]) + "'"
    }
}
