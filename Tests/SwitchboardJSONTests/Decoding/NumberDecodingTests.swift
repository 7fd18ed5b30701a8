import Foundation
import Testing

import SwitchboardTestSupport
@testable import SwitchboardJSON

struct NumberDecodingTests {
    private func decode<T: Decodable>(_ type: T.Type, _ text: String) -> T? {
        try? FastJSONDecoder().decode(type, from: Data(text.utf8))
    }

    @Test("a number decodes to the nearest Double and Float, rounded once", arguments: floatTable)
    func floats(text: String, double: UInt64?, float: UInt32?) {
        #expect(decode(Double.self, text)?.bitPattern == double)
        #expect(decode(Float.self, text)?.bitPattern == float)
        #expect(decode([Double].self, "[ \(text) ]")?.first?.bitPattern == double)
    }

    @Test("random numbers decode as with strtod and strtof", arguments: [1, 2, 3, 4])
    func randomFloats(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in seededCases(5_000) {
            let text = randomNumber(&random)
            let double = strtod(text, nil)
            let float = strtof(text, nil)
            let isZero = !text.prefix { $0 != "e" }.contains { ("1"..."9").contains($0) }
            #expect(decode(Double.self, text) == (double.isFinite && (double != 0 || isZero) ? double : nil), "\(text)")
            #expect(decode(Float.self, text) == (float.isFinite && (float != 0 || isZero) ? float : nil), "\(text)")
        }
    }

    /// Returns the shortest text of a random `Double`, or a number with random digits.
    private func randomNumber(_ random: inout SeededGenerator) -> String {
        if Bool.random(using: &random) {
            let value = Double(bitPattern: random.next())
            if value.isFinite { return "\(value)" }
        }
        func digits(_ most: Int) -> String {
            (0..<Int.random(in: 1...most, using: &random)).map { _ in String(Int.random(in: 0...9, using: &random)) }
                .joined()
        }
        var text = Bool.random(using: &random) ? "-" : ""
        text += Bool.random(using: &random) ? "0" : "\(Int.random(in: 1...9, using: &random))\(digits(24))"
        if Bool.random(using: &random) { text += "." + digits(30) }
        if Bool.random(using: &random) { text += "e\(Int.random(in: -330...320, using: &random))" }
        return text
    }

    @Test("the powers of five equal those of Python's integers")
    func powersOfFive() {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for exponent in PowersOfFive.smallest...PowersOfFive.largest {
            let (high, low) = PowersOfFive.bits(exponent)
            for word in [high, low] { hash = (hash ^ word) &* 0x100_0000_01b3 }
        }
        #expect(hash == 0xf5eb_a93a_ea6a_c412)
    }

    @Test("integers at a type's bounds decode, and integers beyond them throw")
    func integerBounds() {
        func check<T: FixedWidthInteger & Decodable>(
            _ type: T.Type, _ least: String, _ most: String, _ beyond: [String]
        ) {
            #expect(decode(type, least) == T.min)
            #expect(decode(type, most) == T.max)
            #expect(decode(type, most + ".0") == T.max)
            #expect(decode(type, most + "0e-1") == T.max)
            for text in beyond { #expect(decode(type, text) == nil, "\(text)") }
        }
        check(Int8.self, "-128", "127", ["-129", "128", "256", "1e3"])
        check(UInt8.self, "0", "255", ["-1", "256", "2.56e2"])
        check(Int16.self, "-32768", "32767", ["-32769", "32768"])
        check(UInt16.self, "0", "65535", ["-1", "65536"])
        check(Int32.self, "-2147483648", "2147483647", ["-2147483649", "2147483648"])
        check(UInt32.self, "0", "4294967295", ["-1", "4294967296"])
        check(
            Int64.self, "-9223372036854775808", "9223372036854775807",
            ["-9223372036854775809", "9223372036854775808", "1e19", "18446744073709551617"])
        check(Int.self, "-9223372036854775808", "9223372036854775807", ["-9223372036854775809", "9223372036854775808"])
        check(UInt64.self, "0", "18446744073709551615", ["-1", "18446744073709551616", "184467440737095516150"])
        check(UInt.self, "0", "18446744073709551615", ["-1", "18446744073709551616"])
        if #available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *) {
            check(
                Int128.self, "-170141183460469231731687303715884105728", "170141183460469231731687303715884105727",
                ["-170141183460469231731687303715884105729", "170141183460469231731687303715884105728"])
            check(
                UInt128.self, "0", "340282366920938463463374607431768211455",
                ["-1", "340282366920938463463374607431768211456"])
        }
    }

    @Test(
        "a number decodes as Int exactly when its value is an integer",
        arguments: [
            ("1.0", 1), ("-0", 0), ("-0.0", 0), ("1e3", 1_000), ("12.5e1", 125), ("1200e-2", 12), ("0e99999", 0),
            ("0.000e-99999", 0), ("9007199254740993.0", 9_007_199_254_740_993), ("0.5", nil), ("1e-1", nil),
            ("15e-1", nil),
            ("1.00000000000000000000000001", nil), ("1e99999999999", nil), ("1e-99999999999", nil), ("1e-400", nil),
        ] as [(String, Int?)])
    func integers(text: String, value: Int?) {
        #expect(decode(Int.self, text) == value)
    }

    @Test("an exponent offsets ten thousand zeros")
    func longNumbers() {
        let zeros = String(repeating: "0", count: 10_000)
        #expect(decode(Int.self, "1\(zeros)e-10000") == 1)
        #expect(decode(Double.self, "1\(zeros)e-10000") == 1)
        #expect(decode(Double.self, "0.\(zeros)1e10001") == 1)
        #expect(decode(Float.self, "0.\(zeros)1e10001") == 1)
        #expect(decode(Int.self, "0.\(zeros)1e10001") == 1)
    }

    @Test(
        "a Decimal keeps all digits of the text",
        arguments: ["0.1", "-12.340", "1e30", "12345678901234567890.123456789", "1e-100"])
    func decimals(text: String) {
        #expect(decode(Decimal.self, text) == Decimal(string: text))
    }

    @Test("a Decimal whose exponent does not fit throws", arguments: ["1e200", "1e-200", "-1e128"])
    func decimalsBeyond(text: String) {
        #expect(decode(Decimal.self, text) == nil)
    }
}
