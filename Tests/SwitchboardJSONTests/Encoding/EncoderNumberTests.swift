import Foundation
import SwitchboardJSON
import SwitchboardTestSupport
import Testing

struct EncoderNumberTests {
    /// Returns the `description` of a number without the suffix `.0`, as `JSONEncoder` writes it.
    private func expected(_ value: Double) -> String {
        let text = value.description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    private func check(_ values: [Double]) throws {
        let texts = values.map(expected).joined(separator: ",")
        #expect(try fastText(values) == "[\(texts)]")
        #expect(try fastText(values.map { AnyValue($0) }) == "[\(texts)]")
        #expect(try JSONDecoder().decode([Double].self, from: FastJSONEncoder().encode(values)) == values)
    }

    @Test("boundary values of Double are written as by Foundation")
    func doubleBoundaries() throws {
        var values: [Double] = [
            0, -0.0, 1, -1, 0.1, -0.5, 1e300, .leastNonzeroMagnitude, .leastNormalMagnitude, .greatestFiniteMagnitude,
            .pi, 2.0 / 3.0, 123456789.123, 1e15, 1e16, 1e17, 9_007_199_254_740_991, 9_007_199_254_740_992,
            9_007_199_254_740_994, 1e-3, 1e-4, 1e-5, 999_999_999.999_999, 999_999_999.5, 1e9, 0.000_001, 0.001_000_5,
            0.3, 0.1 + 0.2, 1.005, 4.35, 100.000_001, 8.7, 106.242, 1.5e-7,
        ]
        for power in -330...308 { values.append(Double("1e\(power)") ?? 0) }
        values += values.flatMap { [$0.nextUp, $0.nextDown, -$0] }.filter(\.isFinite)
        try check(values)
        #expect(try fastText(values) == foundationText(values))
    }

    @Test("short decimals keep their digits")
    func shortDecimals() throws {
        var random = SeededGenerator(seed: 6)
        for decimals in 0...8 {
            let unit = pow(10, Double(decimals))
            try check(
                (0..<2_000).map { _ in Double(Int64.random(in: -99_999_999...99_999_999, using: &random)) / unit })
            try check(
                (0..<2_000).map { _ in
                    Double(Int64.random(in: -1_000_000_000_000_000...1_000_000_000_000_000, using: &random)) / unit
                })
        }
    }

    @Test("a Double of any bits is written like its description")
    func anyDouble() throws {
        var random = SeededGenerator(seed: 754)
        try check((0..<20_000).map { _ in Double(bitPattern: random.next()) }.filter(\.isFinite))
    }

    @Test("a Float is written in its shortest form, as by Foundation")
    func floats() throws {
        var random = SeededGenerator(seed: 32)
        var values: [Float] = [0, -0.0, 1, 0.1, 16_777_216, 3.4028235e38, 1e7, 0.0001, 0.00001]
        values += (0..<5_000).map { _ in Float(bitPattern: UInt32(truncatingIfNeeded: random.next())) }.filter(
            \.isFinite)
        #expect(try fastText(values) == foundationText(values))
        struct Reading: Encodable { var value: Float }
        #expect(try fastText(Reading(value: 0.1)) == #"{"value":0.1}"#)
    }

    @Test("integers of every width keep every digit")
    func integers() throws {
        struct All: Encodable {
            var a = Int8.min, b = Int16.min, c = Int32.min, d = Int64.min, e = Int.max
            var f = UInt8.max, g = UInt16.max, h = UInt32.max, i = UInt64.max, j = UInt.max
        }
        let expected =
            #"{"a":-128,"b":-32768,"c":-2147483648,"d":-9223372036854775808,"e":9223372036854775807,"f":255,"g":65535,"#
            + #""h":4294967295,"i":18446744073709551615,"j":18446744073709551615}"#
        #expect(try fastText(All()) == expected)
        #expect(try fastText([Int8.min, 0, 127]) == "[-128,0,127]")
        #expect(try fastText([Int16.min, .max]) == "[-32768,32767]")
        #expect(try fastText([Int32.min, .max]) == "[-2147483648,2147483647]")
        #expect(try fastText([Int64.min, .max]) == "[-9223372036854775808,9223372036854775807]")
        #expect(try fastText([UInt8.max] + [0]) == "[255,0]")
        #expect(try fastText([UInt16.max]) == "[65535]")
        #expect(try fastText([UInt32.max]) == "[4294967295]")
        #expect(try fastText([UInt64.max]) == "[18446744073709551615]")
        #expect(try fastText([UInt.max]) == "[18446744073709551615]")
    }

    @Test("integers around powers of two and ten keep every digit")
    func integerBoundaries() throws {
        var values: [Int] = []
        for bit in 0..<63 { values += [1 << bit, (1 << bit) - 1, (1 << bit) + 1].flatMap { [$0, -$0] } }
        var ten = 1
        for _ in 0..<18 {
            ten *= 10
            values += [ten - 1, ten, ten + 1, -ten]
        }
        #expect(try fastText(values) == "[" + values.map(\.description).joined(separator: ",") + "]")
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test("integers of 128 bits keep every digit")
    func wideIntegers() throws {
        struct Wide: Encodable { var low = Int128.min, high = UInt128.max }
        let low = "-170141183460469231731687303715884105728"
        let high = "340282366920938463463374607431768211455"
        #expect(try fastText(Wide()) == "{\"low\":\(low),\"high\":\(high)}")
        #expect(try fastText([Int128.min, 5]) == "[\(low),5]")
        #expect(try fastText(UInt128.max) == high)
        let direct = Encoding { encoder in
            var container = encoder.unkeyedContainer()
            try container.encode(Int128.min)
            try container.encode(UInt128.max)
        }
        #expect(try fastText(direct) == "[\(low),\(high)]")
    }

    @Test("a Decimal keeps every digit")
    func decimals() throws {
        for text in [
            "12345678901234567890.123456789", "0.10", "-5", "0", "1e50", "99999999999999999999999999999999999999",
        ] {
            let decimal = try #require(Decimal(string: text))
            #expect(try fastText([decimal]) == "[\(decimal.description)]")
            #expect(try fastText(["d": decimal]) == foundationText(["d": decimal]))
        }
        #expect(try fastText(Decimal(string: "12345678901234567890.123456789")) == "12345678901234567890.123456789")
    }

    @Test("a number written from JSON text keeps it, and any other text throws")
    func numberText() throws {
        struct Exact: Encodable {
            var text: String
            func encode(to encoder: any Encoder) throws {
                guard try FastJSONEncoder.write(number: text, to: encoder) else {
                    return try Double(text).encode(to: encoder)
                }
            }
        }
        for text in ["0", "-0", "1.50", "123456789012345678901234567890", "1E+400", "-0.0e-7", "0.10"] {
            #expect(try fastText(Exact(text: text)) == text)
            #expect(try fastText(["a": [Exact(text: text), Exact(text: text)]]) == "{\"a\":[\(text),\(text)]}")
        }
        #expect(try foundationText([Exact(text: "1.50")]) == "[1.5]")
        for text in [
            "", "-", "01", "-01", "1.", ".5", "1e", "1e+", "+1", "NaN", "0x1", "1 ", " 1", "1,2", "1e5.0", "٣",
        ] {
            let error = #expect(throws: EncodingError.self) { try fastText(["a": [Exact(text: text)]]) }
            guard case .invalidValue(_, let context)? = error else { continue }
            #expect(context.codingPath.map(\.stringValue) == ["a", "Index 0"])
        }
    }
}
