import Foundation
import SwitchboardJSON
import SwitchboardTestSupport

extension SeededGenerator {
    /// Returns random text of at most `length` characters.
    mutating func jsonText(upTo length: Int) -> String {
        let samples: [Unicode.Scalar] = ["\"", "\\", "/", "\n", "\r", "\t", "é", "🌎", "\u{2028}", "\u{7F}", "ß", "日"]
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...length, using: &self) {
            switch Int.random(in: 0..<12, using: &self) {
            case 0: text.append(samples.randomElement(using: &self) ?? "x")
            case 1: text.append(Unicode.Scalar(UInt8.random(in: 0..<32, using: &self)))
            default: text.append(Unicode.Scalar(UInt8.random(in: 32..<127, using: &self)))
            }
        }
        return String(text)
    }
}

/// A key with any text.
struct AnyKey: CodingKey {
    let stringValue: String
    let intValue: Int?
    init(_ text: String) {
        stringValue = text
        intValue = nil
    }
    init(stringValue: String) { self.init(stringValue) }
    init(intValue: Int) {
        stringValue = String(intValue)
        self.intValue = intValue
    }
}

/// A value that a closure encodes.
struct Encoding: Encodable {
    var body: (any Encoder) throws -> Void

    init(_ body: @escaping (any Encoder) throws -> Void) { self.body = body }

    func encode(to encoder: any Encoder) throws { try body(encoder) }
}

func fastText(_ value: some Encodable, _ change: (inout FastJSONEncoder) -> Void = { _ in }) throws -> String {
    var encoder = FastJSONEncoder()
    change(&encoder)
    return String(decoding: try encoder.encode(value), as: UTF8.self)
}

func foundationText(_ value: some Encodable, _ change: (JSONEncoder) -> Void = { _ in }) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
    change(encoder)
    return String(decoding: try encoder.encode(value), as: UTF8.self)
}
