import Foundation
import SwitchboardJSON
import SwitchboardTestSupport
import Testing

/// Decodes seeded documents with `JSONDecoder` and with `FastJSONDecoder`, using the same strategies.
///
/// The documents avoid these intended differences, or the comparison allows them:
/// - A trailing comma, `1.5` as an `Int`, and a date that does not exist or precedes other text are errors.
/// - UTF-16 and UTF-32 are errors.
/// - Names with different bytes are different, even when they are canonically equivalent.
/// - A number that does not fit has a coding path.
/// - `0e1` is a number. A decimal may be 0 with any exponent.
struct DifferentialTests {
    struct Everything: Decodable, Equatable {
        var id: Int
        var smallNumber: Int8?
        var largeNumber: UInt64?
        var ratio: Double
        var shortRatio: Float?
        var isOn: Bool?
        var firstName: String
        var lastName: String?
        var createdAt: Date?
        var payload: Data?
        var amount: Decimal?
        var link: URL?
        var tags: [String]?
        var counts: [Int]?
        var maybeCounts: [Int?]?
        var ratios: [Double]?
        var namedValues: [String: Int]?
        var byNumber: [Int: String]?
        var children: [Everything]?
        var kind: Kind?

        enum Kind: String, Decodable { case plain, fancy }
    }

    @Test("seeded documents decode as with JSONDecoder")
    func documents() throws {
        var accepted = 0
        let cases = seededCases(1_000)
        for seed in cases {
            var writer = DocumentWriter(seed)
            let strategies = writer.strategies()
            let text = Data(writer.everything(depth: 0).utf8)
            let expected = Result { try strategies.theirs.decode(Everything.self, from: text) }.mapError { summary($0) }
            let found = Result { try strategies.ours.decode(Everything.self, from: text) }.mapError { summary($0) }
            if (try? expected.get()) != nil { accepted += 1 }
            guard found != expected else { continue }
            // Foundation cannot describe every date, so the description omits values.
            let outcomes = [found, expected].map { outcome in
                if case .failure(let error) = outcome { error.text } else { "a value" }
            }
            // Foundation decodes the members of a dictionary in random order.
            if outcomes.allSatisfy({ $0.hasPrefix("mismatch Int") && $0.contains(".byNumber.") }) { continue }
            Issue.record("seed \(seed): \(outcomes) for \(String(decoding: text, as: UTF8.self))")
        }
        // The comparison is meaningful only when enough documents decode.
        #expect(accepted > cases.count / 10)
    }

    @Test("arrays written by JSONEncoder decode to the original values")
    func encoded() throws {
        var random = SeededGenerator(seed: 11)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted]
        for _ in seededCases(300) {
            let values = (0..<20).map { _ in Double(bitPattern: random.next()) }.filter(\.isFinite)
            let floats = (0..<20).map { _ in Float(bitPattern: UInt32(truncatingIfNeeded: random.next())) }.filter(
                \.isFinite)
            let integers = (0..<20).map { _ in Int(truncatingIfNeeded: random.next()) }
            let texts = (0..<20).map { _ in
                String(
                    String.UnicodeScalarView(
                        (0..<5).compactMap { _ in Unicode.Scalar(UInt32.random(in: 0..<0x11_0000, using: &random)) }))
            }
            #expect(try FastJSONDecoder().decode([Double].self, from: encoder.encode(values)) == values)
            #expect(try FastJSONDecoder().decode([Float].self, from: encoder.encode(floats)) == floats)
            #expect(try FastJSONDecoder().decode([Int].self, from: encoder.encode(integers)) == integers)
            #expect(try FastJSONDecoder().decode([String].self, from: encoder.encode(texts)) == texts)
        }
    }
}
