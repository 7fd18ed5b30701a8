import Foundation
import SwitchboardJSON
import SwitchboardTestSupport

/// Writes random documents for `DifferentialTests.Everything`, some of which do not fit it.
struct DocumentWriter {
    private var random: SeededGenerator
    private var isSnakeCase = false
    private var dateStyle = 0
    private var dataStyle = 0

    init(_ seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// Creates two decoders with the same random strategies.
    mutating func strategies() -> (ours: FastJSONDecoder, theirs: JSONDecoder) {
        var ours = FastJSONDecoder()
        let theirs = JSONDecoder()
        switch below(3) {
        case 0:
            isSnakeCase = true
            ours.keyDecodingStrategy = .convertFromSnakeCase
            theirs.keyDecodingStrategy = .convertFromSnakeCase
        case 1:
            ours.keyDecodingStrategy = .custom { JSONTree.Name(stringValue: $0[$0.count - 1].stringValue) }
            theirs.keyDecodingStrategy = .custom { JSONTree.Name(stringValue: $0[$0.count - 1].stringValue) }
        default: break
        }
        dateStyle = below(5)
        let closure: @Sendable (any Decoder) throws -> Date = {
            Date(timeIntervalSince1970: Double(try $0.singleValueContainer().decode(String.self).count))
        }
        switch dateStyle {
        case 0: (ours.dateDecodingStrategy, theirs.dateDecodingStrategy) = (.iso8601, .iso8601)
        case 1: (ours.dateDecodingStrategy, theirs.dateDecodingStrategy) = (.secondsSince1970, .secondsSince1970)
        case 2:
            (ours.dateDecodingStrategy, theirs.dateDecodingStrategy) = (.millisecondsSince1970, .millisecondsSince1970)
        case 3: (ours.dateDecodingStrategy, theirs.dateDecodingStrategy) = (.custom(closure), .custom(closure))
        default: break
        }
        dataStyle = below(2)
        if dataStyle == 0 {
            (ours.dataDecodingStrategy, theirs.dataDecodingStrategy) = (.deferredToData, .deferredToData)
        }
        if below(2) == 0 {
            ours.nonConformingFloatDecodingStrategy = .convertFromString(
                positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
            theirs.nonConformingFloatDecodingStrategy = .convertFromString(
                positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        }
        return (ours, theirs)
    }

    mutating func everything(depth: Int) -> String {
        var members: [(name: String, text: String)] = [
            ("id", integer()), ("smallNumber", "\(below(300) - 150)"), ("largeNumber", integer()), ("ratio", double()),
            ("shortRatio", double()), ("isOn", below(2) == 0 ? "true" : "false"), ("firstName", string()),
            ("lastName", string()), ("createdAt", date()), ("payload", data()), ("amount", double()),
            ("link", "\"https://a.example/\(below(99))\""), ("tags", array { $0.string() }),
            ("counts", array { $0.integer() }),
            ("maybeCounts", array { $0.below(3) == 0 ? "null" : "7" }), ("ratios", array { $0.double() }),
            ("namedValues", object { ($0.plainName(), $0.integer()) }),
            ("byNumber", object { ("\($0.below(50))", $0.string()) }),
            ("kind", ["\"plain\"", "\"fancy\"", "\"other\""][below(12) % 11 % 3]),
        ]
        if depth < 3 { members.append(("children", array { $0.everything(depth: depth + 1) })) }
        // Most members are present. Some are null or of another kind, a few occur twice, and some have unknown names.
        for index in members.indices where below(60) == 0 { members[index].text = anything() }
        let required: Set<String> = ["id", "ratio", "firstName"]
        members.removeAll { !required.contains($0.name) && below(3) == 0 }
        if below(80) == 0 { members.remove(at: below(members.count)) }
        if below(4) == 0 { members.shuffle(using: &random) }
        if below(8) == 0 { members.append(members[below(members.count)]) }
        for _ in 0..<below(3) { members.insert((plainName(), anything()), at: below(members.count + 1)) }
        return joined(members.map { (isSnakeCase ? snakeCase($0.name) : $0.name, $0.text) })
    }

    private mutating func joined(_ members: [(String, String)]) -> String {
        "{" + members.map { "\(space())\(quoted($0.0))\(space()):\(space())\($0.1)\(space())" }.joined(separator: ",")
            + "}"
    }

    private mutating func object(_ member: (inout Self) -> (String, String)) -> String {
        joined((0..<below(5)).map { _ in member(&self) })
    }

    private mutating func array(_ element: (inout Self) -> String) -> String {
        "[" + (0..<below(4)).map { _ in space() + element(&self) + space() }.joined(separator: ",") + "]"
    }

    private mutating func anything() -> String {
        switch below(7) {
        case 0: "null"
        case 1: "true"
        case 2: double()
        case 3: string()
        case 4: array { $0.anything() }
        case 5: object { ($0.plainName(), $0.integer()) }
        default: integer()
        }
    }

    private mutating func integer() -> String {
        switch below(12) {
        case 0: "\(Int(truncatingIfNeeded: random.next()))"
        case 1: "\(random.next())"
        case 2: "\(below(1_000)).0"
        case 3: "\(below(100) + 1)e\(below(4))"
        case 4: "-\(below(100))"
        case 5: "\(below(100)).5"
        default: "\(below(100_000))"
        }
    }

    private mutating func double() -> String {
        switch below(12) {
        case 0: "\(Double.random(in: -1e300...1e300, using: &random))"
        case 1: "\(below(100) + 1)E\(["", "+", "-"][below(3)])\(below(30))"
        case 2: ["\"inf\"", "\"-inf\"", "\"x\""][below(3)]
        case 3: "\(Float(below(1_000_000)) / 7)"
        case 4: "-0.0"
        case 5: "\(below(9) + 1)e\(below(500))"
        default: "\(Double(below(100_000)) / 100)"
        }
    }

    private mutating func string() -> String {
        let pieces = [
            "a", "film", "Ünï", "日本", "😀", "e\u{301}", "\\n", "\\\"", "\\u0041", "\\u20ac", "\\ud83d\\ude00", " ",
            "a longer piece of text", "/", "\\/", "\u{2028}", "\u{7F}",
        ]
        return "\"" + (0..<below(6)).map { _ in pieces[below(pieces.count)] }.joined() + "\""
    }

    private mutating func date() -> String {
        switch dateStyle {
        case 0:
            let date = Date(timeIntervalSince1970: Double(below(4_000_000_000)))
            let text = date.ISO8601Format()
            return below(20) == 0 ? "\"yesterday\"" : "\"\(below(3) == 0 ? text.dropLast() + "+02:00" : text[...])\""
        case 3: return string()
        default: return double()
        }
    }

    private mutating func data() -> String {
        if dataStyle == 0 { return array { "\($0.below(260))" } }
        let data = Data((0..<below(9)).map { _ in UInt8(truncatingIfNeeded: random.next()) })
        return "\"" + (below(20) == 0 ? "?" : data.base64EncodedString()) + "\""
    }

    mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<max(limit, 1), using: &random) }

    private mutating func plainName() -> String { ["x", "extra", "a_b", "someName", "é"][below(5)] + "\(below(9))" }

    /// Returns a name in quotes. Occasionally its first character is an escape.
    private mutating func quoted(_ name: String) -> String {
        guard below(30) == 0, let first = name.utf8.first, first < 0x80 else { return "\"\(name)\"" }
        return "\"\\u00\(String(first, radix: 16))\(name.dropFirst())\""
    }

    private func snakeCase(_ name: String) -> String {
        name.reduce(into: "") { $0 += $1.isUppercase ? "_" + $1.lowercased() : String($1) }
    }

    private mutating func space() -> String { ["", "", "", "", " ", "\n", "\t", "\r\n            "][below(8)] }
}
