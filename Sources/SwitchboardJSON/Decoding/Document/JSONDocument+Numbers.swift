import Foundation

extension JSONDocument {
    @inline(__always)
    func bool(at index: Int) throws -> Bool {
        switch tape[index].kind {
        case .true: return true
        case .false: return false
        case .null: throw nullBool(at: index)
        default: throw mismatch(Bool.self, at: index)
        }
    }

    /// Reads an integer of up to 64 bits exactly. `1.0` and `1e3` are integers, `1.5` is not.
    @inline(__always)
    func integer<Value: FixedWidthInteger>(_ type: Value.Type, at index: Int) throws -> Value {
        if let number = shortInteger(at: index) {
            if let value = Value(exactly: number) { return value }
        } else if Value.isSigned {
            if let number = int64(at: index), let value = Value(exactly: number) { return value }
        } else {
            if let number = uint64(at: index), let value = Value(exactly: number) { return value }
        }
        throw noInteger(type, at: index)
    }

    /// Reads an integer of more than 64 bits exactly.
    @inline(never)
    func wideInteger<Value: FixedWidthInteger>(_ type: Value.Type, at index: Int) throws -> Value {
        guard tape[index].kind == .number, let value = DecimalText.integer(type, text(of: index)) else {
            throw noInteger(type, at: index)
        }
        return value
    }

    /// Reads an integer of at most 19 characters without a fraction or an exponent. Nil for anything else.
    @inline(__always)
    private func shortInteger(at index: Int) -> Int64? {
        guard tape[index].kind == .number, tape[index].flags == [], tape[index].length <= 19 else { return nil }
        let text = text(of: index)
        let isNegative = text[0] == UInt8(ascii: "-")
        var magnitude: UInt64 = 0
        for place in (isNegative ? 1 : 0)..<text.count {
            magnitude = magnitude &* 10 &+ UInt64(text[place] &- UInt8(ascii: "0"))
        }
        // 19 digits are less than 2^64.
        guard magnitude <= UInt64(Int64.max) else { return nil }
        let signed = Int64(bitPattern: magnitude)
        return isNegative ? -signed : signed
    }

    @inline(never)
    private func int64(at index: Int) -> Int64? {
        tape[index].kind == .number ? DecimalText.integer(Int64.self, text(of: index)) : nil
    }

    @inline(never)
    private func uint64(at index: Int) -> UInt64? {
        tape[index].kind == .number ? DecimalText.integer(UInt64.self, text(of: index)) : nil
    }

    @inline(never)
    private func noInteger(_ type: any Any.Type, at index: Int) -> DecodingError {
        tape[index].kind == .number ? unfit(type, at: index) : mismatch(type, at: index)
    }

    @inline(__always)
    func double(at index: Int) throws -> Double {
        guard tape[index].kind == .number else { return try nonConforming(Double.self, at: index) }
        let value = DecimalText(text(of: index)).double
        // The number is too large, or nonzero but rounds to zero.
        guard let value else { throw unfit(Double.self, at: index) }
        return value
    }

    func float(at index: Int) throws -> Float {
        guard tape[index].kind == .number else { return Float(try nonConforming(Float.self, at: index)) }
        guard let value = DecimalText(text(of: index)).float else { throw unfit(Float.self, at: index) }
        return value
    }

    func decimal(at index: Int) throws -> Decimal {
        guard tape[index].kind == .number else { throw mismatch(Decimal.self, at: index) }
        guard let value = DecimalText(text(of: index)).decimal else { throw unfit(Decimal.self, at: index) }
        return value
    }

    @inline(never)
    private func nonConforming(_ type: any Any.Type, at index: Int) throws -> Double {
        if tape[index].kind == .string,
            case .convertFromString(let infinity, let negative, let nan) = decoder.nonConformingFloatDecodingStrategy
        {
            switch try string(at: index) {
            case infinity: return .infinity
            case negative: return -.infinity
            case nan: return .nan
            default: break
            }
        }
        throw mismatch(type, at: index)
    }

    @inline(never)
    private func unfit(_ type: any Any.Type, at index: Int) -> DecodingError {
        let text = text(of: index)
        let number = String(decoding: text.prefix(64), as: UTF8.self) + (text.count > 64 ? "…" : "")
        return corrupted("Number \(number) does not fit in \(type)", at: index)
    }
}
