import Foundation
import Switchboard
import SwitchboardHAR
import SwitchboardText

/// Compares two texts and describes their differences.
struct Comparison: Sendable {
    /// The text that replaces a secret.
    let mask: String
    /// Whether a mask in the recording matches any text. A secret from a response is also replaced in requests, and a
    /// cassette that plays them may not detect it as a secret.
    var isLoose = false

    func isEqual(_ live: String, _ recorded: String) -> Bool {
        live == recorded || isLoose && MaskedText(recorded, mask: mask).matches(Data(live.utf8))
    }

    func isEqual(_ live: Data, _ recorded: Data) -> Bool {
        live == recorded || isLoose && MaskedText(recorded, mask: mask).matches(live)
    }

    /// Returns a line when two texts differ, or nil.
    func difference(_ name: String, _ live: String?, _ recorded: String?) -> String? {
        switch (live, recorded) {
        case (nil, nil): nil
        case (let live?, let recorded?):
            isEqual(live, recorded) ? nil : "\(name): \(live.quoted), recorded \(recorded.quoted)"
        case (let live?, nil): "\(name): \(live.quoted), not recorded"
        case (nil, let recorded?): "\(name): missing, recorded \(recorded.quoted)"
        }
    }

    /// Returns one line per pair that differs. Only the order among values of the same name counts, because pairs from
    /// a dictionary come in another order on every run.
    func differences(_ kind: String, _ live: [HAR.Field], _ recorded: [HAR.Field]) -> [String] {
        var names: [String] = []
        for pair in live + recorded where !names.contains(pair.name) { names.append(pair.name) }
        return names.flatMap { name in
            let live = live.filter { $0.name == name }.map(\.value)
            let recorded = recorded.filter { $0.name == name }.map(\.value)
            return (0..<max(live.count, recorded.count)).compactMap { index in
                difference(
                    "\(kind) \(name.isPlain ? name : name.quoted)", live.indices.contains(index) ? live[index] : nil,
                    recorded.indices.contains(index) ? recorded[index] : nil)
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
        if let one = JSONTree(live.body), let other = JSONTree(recorded.body) {
            return differences(one, other)
        }
        if live.contentType.isForm, recorded.contentType.isForm {
            return differences("body field", form(live.body), form(recorded.body))
        }
        return isEqual(live.body, recorded.body) ? [] : [difference(live.body, recorded.body)]
    }

    /// Returns the differences between two messages of a WebSocket.
    func differences(_ live: Data, _ recorded: Data) -> [String] {
        if let one = JSONTree(live), let other = JSONTree(recorded) { return differences(one, other) }
        return isEqual(live, recorded) ? [] : [difference(live, recorded)]
    }

    /// Works in a loop, because a recording may nest as deep as a server likes.
    private func differences(_ live: JSONTree, _ recorded: JSONTree) -> [String] {
        var lines: [String] = []
        var rest: [(live: JSONTree?, recorded: JSONTree?, place: String)] = [(live, recorded, "$")]
        while let (live, recorded, place) = rest.popLast() {
            switch (live, recorded) {
            case (.object(let live)?, .object(let recorded)?):
                for name in Set(live.keys).union(recorded.keys).sorted(by: >) {
                    let place = "\(place)\(name.isPlain ? ".\(name)" : "[\(name.quoted)]")"
                    rest.append((live[name], recorded[name], place))
                }
            case (.array(let live)?, .array(let recorded)?):
                for index in (0..<max(live.count, recorded.count)).reversed() {
                    rest.append(
                        (
                            live.indices.contains(index) ? live[index] : nil,
                            recorded.indices.contains(index) ? recorded[index] : nil, "\(place)[\(index)]"
                        ))
                }
            case (.string(let live)?, .string(let recorded)?):
                lines += difference("body \(place)", live, recorded).map { [$0] } ?? []
            case (let live?, let recorded?):
                if live != recorded { lines.append("body \(place): \(live), recorded \(recorded)") }
            case (let live?, nil): lines.append("body \(place): \(live), not recorded")
            case (nil, let recorded?): lines.append("body \(place): missing, recorded \(recorded)")
            case (nil, nil): break
            }
        }
        return lines
    }

    /// Returns the first line that differs, or the first byte if a body is not text.
    private func difference(_ live: Data, _ recorded: Data) -> String {
        guard let one = live.exactText, let other = recorded.exactText else {
            let place =
                zip(live, recorded).enumerated().first { $1.0 != $1.1 }?.offset ?? min(live.count, recorded.count)
            return "body: \(size(live)), recorded \(size(recorded)), from byte \(place) on"
        }
        let lines = one.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let others = other.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let index = zip(lines, others).enumerated().first { $1.0 != $1.1 }?.offset ?? min(lines.count, others.count)
        return difference(
            "body line \(index + 1)", lines.indices.contains(index) ? String(lines[index]) : nil,
            others.indices.contains(index) ? String(others[index]) : nil) ?? "body: other line ends than recorded"
    }

    private func form(_ body: Data) -> [HAR.Field] {
        HAR.Field.form(String(decoding: body, as: UTF8.self))
    }

    private func size(_ body: Data) -> String {
        body.isEmpty ? "none" : "\(body.count) bytes"
    }
}

extension String {
    /// Whether a message can show the text without quotes.
    fileprivate var isPlain: Bool {
        !isEmpty && unicodeScalars.allSatisfy { CharacterSet.urlUnreserved.contains($0) }
    }
}
