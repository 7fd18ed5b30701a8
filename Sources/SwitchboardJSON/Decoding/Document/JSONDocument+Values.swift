import Foundation

extension JSONDocument {
    @inline(__always)
    func string(at index: Int) throws -> String {
        guard tape[index].kind == .string else { throw mismatch(String.self, at: index) }
        return JSONStringText.string(text(of: index), isEscaped: tape[index].flags == .escaped)
    }

    /// Decodes a value of any type.
    ///
    /// Frequent types and the Foundation types with a strategy are decoded directly, all others by `init(from:)`.
    func value<Value: Decodable>(_ type: Value.Type, at index: Int) throws -> Value {
        if Value.self == String.self { return cast(try string(at: index)) }
        if Value.self == Int.self { return cast(try integer(Int.self, at: index)) }
        if Value.self == Double.self { return cast(try double(at: index)) }
        if Value.self == Date.self { return cast(try date(at: present(type, index))) }
        if Value.self == Data.self { return cast(try data(at: present(type, index))) }
        if Value.self == URL.self { return cast(try url(at: present(type, index))) }
        if Value.self == Decimal.self { return cast(try decimal(at: index)) }
        if Value.self == [String].self { return cast(try array(at: index) { try string(at: $0) }) }
        if Value.self == [Int].self { return cast(try array(at: index) { try integer(Int.self, at: $0) }) }
        if Value.self == [Double].self { return cast(try array(at: index) { try double(at: $0) }) }
        if tape[index].kind == .array, let array = arrayType(of: Value.self) {
            return try array.decode(self, at: index)
        }
        if case .useDefaultKeys = decoder.keyDecodingStrategy {
        } else if let map = type as? any StringKeyed.Type {
            return try map.decode(self, at: index)
        }
        // A class may be a subclass of `Value`, whose initializer the metatype calls.
        return try type.init(from: JSONValueDecoder(document: self, index: index))
    }

    /// Returns the value as `To`, which must be the same type as `From`.
    @inline(__always)
    fileprivate func cast<From, To>(_ value: From) -> To { unsafeBitCast(value, to: To.self) }

    /// Returns the index, or throws when the value is null.
    private func present(_ type: any Any.Type, _ index: Int) throws -> Int {
        if tape[index].kind == .null { throw mismatch(type, at: index) }
        return index
    }

    private func array<Element>(at index: Int, _ element: (Int) throws -> Element) throws -> [Element] {
        guard tape[index].kind == .array else { throw mismatch([Any].self, at: index) }
        let count = Int(tape[index].length)
        var array: [Element] = []
        array.reserveCapacity(count)
        var entry = index + 1
        for _ in 0..<count {
            array.append(try element(entry))
            entry = after(entry)
        }
        return array
    }

    /// Returns the type as an array, or nil for another type. A cast costs more than decoding a small array.
    private func arrayType(of type: Any.Type) -> (any DirectArray.Type)? {
        arrayTypes.property(of: type) { type as? any DirectArray.Type }
    }

    // MARK: - Foundation's types

    func date(at index: Int) throws -> Date {
        switch decoder.dateDecodingStrategy {
        case .deferredToDate: return Date(timeIntervalSinceReferenceDate: try double(at: index))
        case .secondsSince1970: return Date(timeIntervalSince1970: try double(at: index))
        case .millisecondsSince1970: return Date(timeIntervalSince1970: try double(at: index) / 1_000)
        case .iso8601: return try isoDate(at: index)
        case .iso8601OrDeferred:
            if tape[index].kind == .number { return Date(timeIntervalSinceReferenceDate: try double(at: index)) }
            return try isoDate(at: index)
        case .formatted(let formatter):
            guard let date = formatter.date(from: try string(at: index)) else {
                throw corrupted("Date string does not match format expected by formatter", at: index)
            }
            return date
        case .custom(let decode): return try decode(JSONValueDecoder(document: self, index: index))
        }
    }

    private func isoDate(at index: Int) throws -> Date {
        guard tape[index].kind == .string else { throw mismatch(String.self, at: index) }
        var date: Date?
        if tape[index].flags == .escaped {
            var text = try string(at: index)
            date = text.withUTF8 { ISO8601Text.date($0) }
        } else {
            date = ISO8601Text.date(text(of: index))
        }
        guard let date else { throw corrupted("Expected date string to be ISO8601-formatted", at: index) }
        return date
    }

    func data(at index: Int) throws -> Data {
        switch decoder.dataDecodingStrategy {
        case .deferredToData: return try Data(from: JSONValueDecoder(document: self, index: index))
        case .base64:
            guard let data = Data(base64Encoded: try string(at: index)) else {
                throw corrupted("Encountered Data is not valid Base64", at: index)
            }
            return data
        case .custom(let decode): return try decode(JSONValueDecoder(document: self, index: index))
        }
    }

    private func url(at index: Int) throws -> URL {
        guard let url = URL(string: try string(at: index)) else { throw corrupted("Invalid URL string", at: index) }
        return url
    }
}

/// An array, which is decoded without `init(from:)`.
protocol DirectArray {
    /// Decodes the array. `Value` is the array's type.
    static func decode<Value>(_ document: JSONDocument, at index: Int) throws -> Value
}

extension Array: DirectArray where Element: Decodable {
    /// The bytes that an array reserves at most. The rest is appended, because elements that are large in memory and
    /// short in the text must not reserve a multiple of the text before the first of them is decoded.
    private static var mostReserved: Int { 1 << 20 }

    static func decode<Value>(_ document: JSONDocument, at index: Int) throws -> Value {
        let count = Int(document.tape[index].length)
        if count == 0 { return document.cast([] as Self) }
        try document.checkStack(at: index)
        let reserved = Swift.min(count, mostReserved / MemoryLayout<Element>.stride)
        var entry = index + 1
        let array = try Self(unsafeUninitializedCapacity: reserved) { buffer, initialized in
            guard let base = buffer.baseAddress else { return }
            while initialized < reserved {
                (base + initialized).initialize(to: try document.value(Element.self, at: entry))
                initialized += 1
                entry = document.after(entry)
            }
        }
        return document.cast(reserved == count ? array : try array.appending(from: document, at: entry, count: count))
    }

    @inline(never)
    private func appending(from document: JSONDocument, at first: Int, count: Int) throws -> Self {
        var (array, entry) = (self, first)
        while array.count < count {
            array.append(try document.value(Element.self, at: entry))
            entry = document.after(entry)
        }
        return array
    }
}

/// A dictionary with `String` keys, which key strategies do not convert.
private protocol StringKeyed {
    /// Decodes the dictionary. `Map` is the dictionary's type.
    static func decode<Map>(_ document: JSONDocument, at index: Int) throws -> Map
}

extension Dictionary: StringKeyed where Key == String, Value: Decodable {
    fileprivate static func decode<Map>(_ document: JSONDocument, at index: Int) throws -> Map {
        guard document.tape[index].kind == .object else { throw document.mismatch([String: Any].self, at: index) }
        try document.checkStack(at: index)
        var map: Self = [:]
        var name = index + 1
        while name < Int(document.tape[index].next) {
            let (key, value) = (document.rawName(at: name), try document.value(Value.self, at: name + 1))
            if map[key] == nil { map[key] = value }
            name = document.after(name + 1)
        }
        return document.cast(map)
    }
}

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
        if let number = shortInteger(at: index), let value = Value(exactly: number) { return value }
        return try longInteger(type, at: index)
    }

    /// Reads an integer of any number of bits and any notation exactly.
    @inline(never)
    func longInteger<Value: FixedWidthInteger>(_ type: Value.Type, at index: Int) throws -> Value {
        guard tape[index].kind == .number else { throw mismatch(type, at: index) }
        guard let value = DecimalText.integer(type, text(of: index)) else { throw unfit(type, at: index) }
        return value
    }

    /// Reads an integer of at most 19 characters without a fraction or an exponent. Nil for anything else.
    @inline(__always)
    private func shortInteger(at index: Int) -> Int64? {
        guard tape[index].kind == .number, tape[index].flags == [], tape[index].length <= 19 else { return nil }
        let text = text(of: index)
        let isNegative = text[0] == UInt8(ascii: "-")
        var magnitude: UInt64 = 0
        for entry in (isNegative ? 1 : 0)..<text.count {
            magnitude = magnitude &* 10 &+ UInt64(text[entry] &- UInt8(ascii: "0"))
        }
        // 19 digits are less than 2^64.
        guard magnitude <= UInt64(Int64.max) else { return nil }
        let signed = Int64(bitPattern: magnitude)
        return isNegative ? -signed : signed
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
