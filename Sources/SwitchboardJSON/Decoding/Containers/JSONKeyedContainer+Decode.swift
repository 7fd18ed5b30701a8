extension JSONKeyedContainer {
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try document.value(type, at: try find(key))
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        guard let index = findValue(key) else { return nil }
        return try document.value(type, at: index)
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        try document.bool(at: try find(key))
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try findValue(key).map { try document.bool(at: $0) }
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try document.string(at: try find(key))
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try findValue(key).map { try document.string(at: $0) }
    }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try document.double(at: try find(key))
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try findValue(key).map { try document.double(at: $0) }
    }

    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        try document.float(at: try find(key))
    }

    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        try findValue(key).map { try document.float(at: $0) }
    }

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
        try document.integer(type, at: try find(key))
    }

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try findValue(key).map { try document.integer(type, at: $0) }
    }

    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
        try document.integer(type, at: try find(key))
    }

    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
        try findValue(key).map { try document.integer(type, at: $0) }
    }

    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
        try document.integer(type, at: try find(key))
    }

    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
        try findValue(key).map { try document.integer(type, at: $0) }
    }

    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
        try document.integer(type, at: try find(key))
    }

    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
        try findValue(key).map { try document.integer(type, at: $0) }
    }

    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
        try document.integer(type, at: try find(key))
    }

    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try findValue(key).map { try document.integer(type, at: $0) }
    }

    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
        try document.integer(type, at: try find(key))
    }

    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
        try findValue(key).map { try document.integer(type, at: $0) }
    }

    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
        try document.integer(type, at: try find(key))
    }

    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
        try findValue(key).map { try document.integer(type, at: $0) }
    }

    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
        try document.integer(type, at: try find(key))
    }

    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
        try findValue(key).map { try document.integer(type, at: $0) }
    }

    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
        try document.integer(type, at: try find(key))
    }

    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
        try findValue(key).map { try document.integer(type, at: $0) }
    }

    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
        try document.integer(type, at: try find(key))
    }

    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        try findValue(key).map { try document.integer(type, at: $0) }
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 {
        try document.wideInteger(type, at: try find(key))
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? {
        try findValue(key).map { try document.wideInteger(type, at: $0) }
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
        try document.wideInteger(type, at: try find(key))
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? {
        try findValue(key).map { try document.wideInteger(type, at: $0) }
    }
}
