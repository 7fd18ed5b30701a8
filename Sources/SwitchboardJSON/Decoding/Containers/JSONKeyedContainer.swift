/// A keyed container as a type whose keys are not known.
///
/// `JSONDocument` stores this type for each type of keys, because the runtime takes longer to find the type of a
/// generic container, and its conformance, than to create one.
protocol KeyedContainer<Key>: KeyedDecodingContainerProtocol {
    init(document: JSONDocument, index: Int)
}

extension KeyedContainer {
    fileprivate static func make(_ document: JSONDocument, at index: Int) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(Self(document: document, index: index))
    }
}

extension JSONDocument {
    func container<Key: CodingKey>(_ keys: Key.Type, at index: Int) throws -> KeyedDecodingContainer<Key> {
        guard tape[index].kind == .object else { throw mismatch([String: Any].self, at: index) }
        try checkStack(at: index)
        prepare(index)
        setKeyType(keys, of: index)
        let type = containerTypes.property(of: keys) { JSONKeyedContainer<Key>.self }
        // The property of these keys is the type above, which conforms to the protocol with these keys. Both metatypes
        // consist of the type and its conformance. Without `as`, the compiler would cast the type in the metatype.
        let container = unsafeBitCast(type as any KeyedContainer.Type, to: (any KeyedContainer<Key>.Type).self)
        return container.make(self, at: index)
    }
}

/// The members of an object. The tape stores the index of the next expected name, so copies share it.
struct JSONKeyedContainer<Key: CodingKey>: KeyedContainer {
    let document: JSONDocument
    let index: Int

    var codingPath: [any CodingKey] { document.path(to: index) }
    var allKeys: [Key] { document.names(of: index).compactMap { Key(stringValue: $0) } }

    /// Returns the tape index of a member's value, or throws when the object has no such member.
    @inline(never)
    func find(_ key: Key) throws -> Int {
        let found = document.member(key, in: index)
        guard found != 0 else { throw document.missing(key, in: index) }
        return found
    }

    /// Returns the tape index of a member's value, or nil when the member is missing or null.
    @inline(never)
    func findValue(_ key: Key) -> Int? {
        let found = document.member(key, in: index)
        return document.tape[found].kind == .null ? nil : found
    }

    func contains(_ key: Key) -> Bool { findMember(key) != 0 }

    /// Returns the tape index of a member's value, or 0, the index of a null, when the member is missing.
    @inline(never)
    func findMember(_ key: some CodingKey) -> Int { document.member(key, in: index) }

    func decodeNil(forKey key: Key) throws -> Bool { document.tape[try find(key)].kind == .null }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try document.container(type, at: try find(key))
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try JSONUnkeyedContainer(document: document, index: try find(key))
    }

    /// Returns the decoder of the member `super`, or of null when it is missing.
    func superDecoder() throws -> any Decoder { try decoder(of: JSONPathKey(stringValue: "super")) }

    /// Returns the decoder of a member, or of null when it is missing.
    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(of: key) }

    private func decoder(of key: some CodingKey) throws -> any Decoder {
        let found = findMember(key)
        return found == 0
            ? try document.missingMember(key, in: index) : JSONValueDecoder(document: document, index: found)
    }
}

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

    @inline(__always)
    func decode<Value: FixedWidthInteger & Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try document.integer(type, at: try find(key))
    }

    // The standard library has a default for each type of an integer, which precedes a generic function.

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try findValue(key).map { try document.integer(type, at: $0) }
    }

    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
        try findValue(key).map { try document.integer(type, at: $0) }
    }

    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
        try findValue(key).map { try document.integer(type, at: $0) }
    }

    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
        try findValue(key).map { try document.integer(type, at: $0) }
    }

    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try findValue(key).map { try document.integer(type, at: $0) }
    }

    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
        try findValue(key).map { try document.integer(type, at: $0) }
    }

    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
        try findValue(key).map { try document.integer(type, at: $0) }
    }

    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
        try findValue(key).map { try document.integer(type, at: $0) }
    }

    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
        try findValue(key).map { try document.integer(type, at: $0) }
    }

    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        try findValue(key).map { try document.integer(type, at: $0) }
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 {
        try document.longInteger(type, at: try find(key))
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? {
        try findValue(key).map { try document.longInteger(type, at: $0) }
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
        try document.longInteger(type, at: try find(key))
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? {
        try findValue(key).map { try document.longInteger(type, at: $0) }
    }
}
