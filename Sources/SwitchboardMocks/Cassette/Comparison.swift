import Foundation
import Switchboard
import SwitchboardHAR
import SwitchboardJSON
import SwitchboardText

/// Compares two texts and describes their differences.
struct Comparison: Sendable {
    let mask: String
    /// Whether a mask in the recording matches any text. A secret from a response is also replaced in requests, and a
    /// cassette that plays them may not detect it as a secret.
    var isLoose = false

    func isEqual(_ live: String, _ recorded: String) -> Bool {
        live.hasBytes(of: recorded) || isLoose && MaskedText(recorded, mask: mask).matches(Data(live.utf8))
    }

    func isEqual(_ live: Data, _ recorded: Data) -> Bool {
        live == recorded || isLoose && MaskedText(recorded, mask: mask).matches(live)
    }

    func differences(_ name: String, _ live: String?, _ recorded: String?) -> [String] {
        switch (live, recorded) {
        case (nil, nil): []
        case (let live?, let recorded?):
            isEqual(live, recorded)
                ? []
                : [
                    "\(name): \(live.quotedForMessage), recorded \(recorded.quotedForMessage)"
                        + MessageText.hiddenDifference(live, recorded)
                ]
        case (let live?, nil): ["\(name): \(live.quotedForMessage), not recorded"]
        case (nil, let recorded?): ["\(name): missing, recorded \(recorded.quotedForMessage)"]
        }
    }

    /// Returns one line per pair that differs. Only the order among values of the same name counts, because pairs from
    /// a dictionary come in another order on every run.
    func differences(_ kind: String, _ live: [HAR.Field], _ recorded: [HAR.Field]) -> [String] {
        let lives = Dictionary(grouping: live) { ExactText($0.name) }
        let others = Dictionary(grouping: recorded) { ExactText($0.name) }
        var names: Set<ExactText> = []
        return (live + recorded).map { ExactText($0.name) }.filter { names.insert($0).inserted }.flatMap { name in
            let (live, recorded) = (lives[name] ?? [], others[name] ?? [])
            let title = "\(kind) \(name.text.isPlain ? name.text : name.text.quotedForMessage)"
            return (0..<max(live.count, recorded.count)).flatMap { index in
                differences(title, live[ifPresent: index]?.value, recorded[ifPresent: index]?.value)
            }
        }
    }
}

// MARK: - Bodies

extension Comparison {
    func differences(ofBody live: ComparedRequest, _ recorded: ComparedRequest) -> [String] {
        guard live.body != recorded.body else { return [] }
        guard !live.body.isEmpty, !recorded.body.isEmpty else {
            return ["body: \(size(live.body)), recorded \(size(recorded.body))"]
        }
        return differences(
            live.body, recorded.body, areForms: live.contentType.isForm && recorded.contentType.isForm)
    }

    /// Returns the differences between two bodies, or two messages of a WebSocket.
    func differences(_ live: Data, _ recorded: Data, areForms: Bool = false) -> [String] {
        if let one = JSONTree(live), let other = JSONTree(recorded) { return differences(one, other) }
        if areForms { return differences("body field", form(live), form(recorded)) }
        return isEqual(live, recorded) ? [] : firstDifference(live, recorded)
    }

    /// Compares in a loop, because a server determines how deep a recording nests.
    private func differences(_ live: JSONTree, _ recorded: JSONTree) -> [String] {
        var lines: [String] = []
        var rest: [(live: JSONTree?, recorded: JSONTree?, path: String)] = [(live, recorded, "$")]
        while let (live, recorded, path) = rest.popLast() {
            switch (live, recorded) {
            case (.object(let live)?, .object(let recorded)?):
                let names = Set(live.keys).union(recorded.keys)
                for name in names.sorted(by: >) {
                    let text = name.text
                    let path = "\(path)\(text.isPlain ? ".\(text)" : "[\(text.quotedForMessage)]")"
                    rest.append((live[name], recorded[name], path))
                }
            case (.array(let live)?, .array(let recorded)?):
                for index in (0..<max(live.count, recorded.count)).reversed() {
                    rest.append((live[ifPresent: index], recorded[ifPresent: index], "\(path)[\(index)]"))
                }
            case (.string(let live)?, .string(let recorded)?):
                lines += differences("body \(path)", live, recorded)
            // The mask also replaces numbers.
            case (_?, .string(mask)?) where isLoose: break
            case (let live?, let recorded?):
                if live != recorded { lines.append("body \(path): \(live), recorded \(recorded)") }
            case (let live?, nil): lines.append("body \(path): \(live), not recorded")
            case (nil, let recorded?): lines.append("body \(path): missing, recorded \(recorded)")
            case (nil, nil): break
            }
        }
        return lines
    }

    /// Returns the first line that differs, or the first byte if a body is not text.
    private func firstDifference(_ live: Data, _ recorded: Data) -> [String] {
        guard let one = live.exactText, let other = recorded.exactText else {
            let offset =
                zip(live, recorded).enumerated().first { $1.0 != $1.1 }?.offset ?? min(live.count, recorded.count)
            return ["body: \(size(live)), recorded \(size(recorded)), from byte \(offset) on"]
        }
        let lines = one.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let others = other.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let index =
            zip(lines, others).enumerated().first { !$1.0.utf8.elementsEqual($1.1.utf8) }?.offset
            ?? min(lines.count, others.count)
        let differences = differences(
            "body line \(index + 1)", lines[ifPresent: index].map(String.init),
            others[ifPresent: index].map(String.init))
        return differences.isEmpty ? ["body: other line ends than recorded"] : differences
    }

    private func form(_ body: Data) -> [HAR.Field] {
        HAR.Field.form(String(decoding: body, as: UTF8.self))
    }

    private func size(_ body: Data) -> String {
        body.isEmpty ? "none" : "\(body.count) bytes"
    }
}

extension Array {
    fileprivate subscript(ifPresent index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}

extension String {
    fileprivate var isPlain: Bool {
        !isEmpty && self == percentEncoded()
    }
}

/// A request prepared for comparison: split into parts, with the secrets of known names replaced.
struct ComparedRequest: Sendable {
    let method: String
    let url: String
    /// Scheme, host and port as in `https://h.example:8443`, in lower case and without the scheme's default port.
    let origin: String
    let path: String
    let query: [HAR.Field]
    let headers: HTTPHeaders
    let contentType: String
    /// The body. A `multipart` body has a constant boundary.
    let body: Data

    /// Creates the value from a request that is already masked.
    init(_ request: HAR.Request) {
        method = request.method.uppercased()
        url = request.url
        headers = HTTPHeaders(request.headers)
        let type = headers["Content-Type"] ?? request.postData?.mimeType ?? ""
        contentType = type
        let body = request.postData?.data ?? Data()
        self.body =
            type.multipartBoundary.map { boundary in
                Data(body.pieces(around: Data(boundary.utf8)).joined(separator: Data("boundary".utf8)))
            } ?? body

        let parts = URLParts(url)
        path = parts.path.isEmpty ? "/" : parts.path
        query = HAR.Field.query(of: url)
        let scheme = parts.scheme.lowercased()
        let port = parts.port.flatMap { $0 == (scheme == "https" ? 443 : 80) ? nil : ":\($0)" } ?? ""
        origin = "\(scheme)://\(parts.host.lowercased())\(port)"
    }

    var line: String { "\(method) \(url)" }

    /// The value as a request, for custom rules.
    var request: NetworkRequest {
        NetworkRequest(HTTPMethod(rawValue: method), URL(string: url), headers: headers, body: DataBody(body))
    }
}

extension JSONTree: CustomStringConvertible {
    /// The value in short. Lists and objects show only their size.
    package var description: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .number(let value): "\(value)"
        case .double(let value): "\(value)"
        case .string(let value): value.quotedForMessage
        case .array(let values): "a list of \(values.count)"
        case .object(let members): "an object of \(members.count)"
        }
    }
}
