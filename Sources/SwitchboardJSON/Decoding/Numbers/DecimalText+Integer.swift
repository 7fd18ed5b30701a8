extension DecimalText {
    /// Returns the value of a number of any length that is an integer, such as `1.0` or `12e3`.
    ///
    /// Nil when the number has a fraction or does not fit in the type.
    static func integer<Value: FixedWidthInteger>(_ type: Value.Type, _ bytes: UnsafeBufferPointer<UInt8>) -> Value? {
        let isNegative = bytes[0] == UInt8(ascii: "-")
        let begin = isNegative ? 1 : 0
        let end = bytes.firstIndex { $0 | 0x20 == UInt8(ascii: "e") } ?? bytes.count
        let point = bytes[..<end].firstIndex(of: UInt8(ascii: ".")) ?? end
        // The number of digits before the decimal point in a notation without an exponent.
        let integers = point - begin + (end < bytes.count ? exponent(bytes, end + 1) : 0)
        var value: Value = 0
        var count = 0
        for place in begin..<end where place != point {
            let digit = bytes[place] &- UInt8(ascii: "0")
            if count < integers {
                guard let next = appending(digit, to: value, isNegative) else { return nil }
                value = next
            } else if digit != 0 {
                return nil
            }
            count += 1
        }
        // The exponent adds zeros. Overflow ends the loop after a few.
        while count < integers, value != 0 {
            guard let next = appending(0, to: value, isNegative) else { return nil }
            value = next
            count += 1
        }
        return value
    }

    private static func appending<Value: FixedWidthInteger>(
        _ digit: UInt8, to value: Value, _ isNegative: Bool
    ) -> Value? {
        let (product, isOver) = value.multipliedReportingOverflow(by: 10)
        let digit = Value(digit)
        let (sum, isOverToo) =
            isNegative ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
        return isOver || isOverToo ? nil : sum
    }
}
