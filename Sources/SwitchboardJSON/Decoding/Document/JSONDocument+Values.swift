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
        if case .useDefaultKeys = decoder.keyDecodingStrategy {
        } else if let map = type as? any StringKeyed.Type {
            return try unconverted(map, at: index)
        }
        // A class may be a subclass of `Value`, whose initializer the metatype calls.
        return try type.init(from: JSONValueDecoder(document: self, index: index))
    }

    /// Returns the value as `To`, which must be the same type as `From`.
    @inline(__always)
    private func cast<From, To>(_ value: From) -> To { unsafeBitCast(value, to: To.self) }

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
        var place = index + 1
        for _ in 0..<count {
            array.append(try element(place))
            place = after(place)
        }
        return array
    }

    /// Decodes a dictionary with its names unconverted.
    private func unconverted<Map>(_ type: any StringKeyed.Type, at index: Int) throws -> Map {
        guard tape[index].kind == .object else { throw mismatch([String: Any].self, at: index) }
        try checkStack(at: index)
        var place = index + 1
        let end = Int(tape[index].next)
        let map = try type.make {
            guard place < end else { return nil }
            defer { place = after(place + 1) }
            return (rawName(at: place), self, place + 1)
        }
        guard let map = map as? Map else { throw mismatch(Map.self, at: index) }
        return map
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

/// A dictionary with `String` keys, which key strategies do not convert.
private protocol StringKeyed {
    static func make(_ next: () throws -> (name: String, document: JSONDocument, index: Int)?) throws -> Any
}

extension Dictionary: StringKeyed where Key == String, Value: Decodable {
    fileprivate static func make(_ next: () throws -> (name: String, document: JSONDocument, index: Int)?) throws -> Any
    {
        var map: Self = [:]
        while let (name, document, index) = try next() {
            let value = try document.value(Value.self, at: index)
            if map[name] == nil { map[name] = value }
        }
        return map
    }
}
