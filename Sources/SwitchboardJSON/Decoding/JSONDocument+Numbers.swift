import Foundation

extension JSONDocument {
    @inline(__always)
    func bool(at index: Int) throws -> Bool {
        switch tape[index].kind {
        case .true: return true
        case .false: return false
        default: throw mismatch(Bool.self, at: index)
        }
    }

    /// An integer, exactly: `1.0` and `1e3` are integers, `1.5` is none.
    @inline(__always)
    func integer<Value: FixedWidthInteger>(_ type: Value.Type, at index: Int) throws -> Value {
        guard tape[index].kind == .number else { throw mismatch(type, at: index) }
        let text = text(of: index)
        if tape[index].flags == [], text.count <= 19 {
            let isNegative = text[0] == UInt8(ascii: "-")
            var magnitude: UInt64 = 0
            for place in (isNegative ? 1 : 0)..<text.count {
                magnitude = magnitude &* 10 &+ UInt64(text[place] &- UInt8(ascii: "0"))
            }
            // 19 digits are less than 2^64.
            if magnitude <= UInt64(Int64.max) {
                let signed = Int64(bitPattern: magnitude)
                if let value = Value(exactly: isNegative ? -signed : signed) { return value }
                throw unfit(type, at: index)
            }
        }
        guard let value = DecimalText.integer(type, text) else { throw unfit(type, at: index) }
        return value
    }

    @inline(__always)
    func double(at index: Int) throws -> Double {
        guard tape[index].kind == .number else { return try nonConforming(Double.self, at: index) }
        let value = DecimalText(text(of: index)).double
        // Too large, or so small that nothing is left of it.
        guard let value else { throw unfit(Double.self, at: index) }
        return value
    }

    func float(at index: Int) throws -> Float {
        guard tape[index].kind == .number else { return try nonConforming(Float.self, at: index) }
        guard let value = DecimalText(text(of: index)).float else { throw unfit(Float.self, at: index) }
        return value
    }

    func decimal(at index: Int) throws -> Decimal {
        guard tape[index].kind == .number else { throw mismatch(Decimal.self, at: index) }
        guard let value = DecimalText(text(of: index)).decimal else { throw unfit(Decimal.self, at: index) }
        return value
    }

    @inline(never)
    private func nonConforming<Value: BinaryFloatingPoint>(_ type: Value.Type, at index: Int) throws -> Value {
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
