/// A keyed container as a type whose keys are not known.
///
/// `OutputSettings` stores this type for each type of keys, because the runtime takes longer to find the type of a
/// generic container, and its conformance, than to create one.
protocol KeyedOutput<Key>: KeyedEncodingContainerProtocol {
    init(writer: OutputWriter, serial: UInt32)
}

extension KeyedOutput {
    fileprivate static func make(_ target: consuming OutputEncoder) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(Self(writer: target.writer, serial: target.serial))
    }
}

extension OutputSettings {
    func container<Key: CodingKey>(_ keys: Key.Type, _ target: consuming OutputEncoder) -> KeyedEncodingContainer<Key> {
        let type = containerTypes.property(of: keys) { OutputKeyedContainer<Key>.self }
        // The property of these keys is the type above, which conforms to the protocol with these keys. Both metatypes
        // consist of the type and its conformance. Without `as`, the compiler would cast the type in the metatype.
        return unsafeBitCast(type as any KeyedOutput.Type, to: (any KeyedOutput<Key>.Type).self).make(target)
    }
}

/// The members of an object.
struct OutputKeyedContainer<Key: CodingKey>: KeyedOutput {
    let writer: OutputWriter
    let serial: UInt32

    var codingPath: [any CodingKey] { writer.codingPath(of: serial) }

    func encodeNil(forKey key: Key) throws { try writer.begin(key, in: serial).pointee.appendNil() }
    func encode(_ value: Bool, forKey key: Key) throws { try writer.begin(key, in: serial).pointee.append(value) }
    func encode(_ value: String, forKey key: Key) throws {
        try writer.begin(key, in: serial).pointee.append(value)
    }

    @inline(__always)
    func encode(_ value: some SignedInteger & FixedWidthInteger & Encodable, forKey key: Key) throws {
        try writer.begin(key, in: serial).pointee.append(value)
    }

    @inline(__always)
    func encode(_ value: some UnsignedInteger & FixedWidthInteger & Encodable, forKey key: Key) throws {
        try writer.begin(key, in: serial).pointee.append(value)
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func encode(_ value: Int128, forKey key: Key) throws { try writer.begin(key, in: serial).pointee.append(value) }
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func encode(_ value: UInt128, forKey key: Key) throws { try writer.begin(key, in: serial).pointee.append(value) }

    func encode(_ value: Double, forKey key: Key) throws {
        guard value.isFinite else { return try encodeNonFinite(value, forKey: key) }
        try writer.begin(key, in: serial).pointee.bytes.append(value)
    }

    func encode(_ value: Float, forKey key: Key) throws {
        guard value.isFinite else { return try encodeNonFinite(value, forKey: key) }
        try writer.begin(key, in: serial).pointee.bytes.append(value)
    }

    @inline(never)
    private func encodeNonFinite(_ value: any Encodable, forKey key: Key) throws {
        try writer.writeMember(value, forKey: key, in: serial)
    }

    func encode(_ value: some Encodable, forKey key: Key) throws {
        try writer.writeMember(value, forKey: key, in: serial)
    }

    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { if let value { try encode(value, forKey: key) } }
    func encodeIfPresent(_ value: String?, forKey key: Key) throws { if let value { try encode(value, forKey: key) } }
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws { if let value { try encode(value, forKey: key) } }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws { if let value { try encode(value, forKey: key) } }
    func encodeIfPresent(_ value: (some Encodable)?, forKey key: Key) throws {
        if let value { try writer.writeMember(value, forKey: key, in: serial) }
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        writer.settings.container(keyType, writer.nested(.object, forKey: key, in: serial))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        writer.nested(.array, forKey: key, in: serial).elements
    }

    func superEncoder() -> any Encoder {
        writer.nested(.empty, forKey: JSONPathKey(stringValue: "super"), in: serial)
    }

    func superEncoder(forKey key: Key) -> any Encoder {
        writer.nested(.empty, forKey: key, in: serial)
    }
}

/// The elements of an array.
struct OutputUnkeyedContainer: UnkeyedEncodingContainer, OutputScalarContainer {
    let writer: OutputWriter
    let serial: UInt32

    var codingPath: [any CodingKey] { writer.codingPath(of: serial) }
    var count: Int { writer.count(of: serial) }

    @inline(__always)
    func begin(_ value: @autoclosure () -> Any) throws -> UnsafeMutablePointer<OutputState> {
        try writer.beginElement(in: serial)
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func encode(_ value: Int128) throws { try begin(value).pointee.append(value) }
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func encode(_ value: UInt128) throws { try begin(value).pointee.append(value) }
    func encode(_ value: some Encodable) throws { try writer.writeElement(value, in: serial) }

    func nestedContainer<NestedKey: CodingKey>(keyedBy keyType: NestedKey.Type) -> KeyedEncodingContainer<NestedKey> {
        writer.settings.container(keyType, writer.nested(.object, in: serial))
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        writer.nested(.array, in: serial).elements
    }

    func superEncoder() -> any Encoder {
        writer.nested(.empty, in: serial)
    }
}

/// A container of one value or of elements, whose values have no keys.
protocol OutputScalarContainer {
    /// Begins a value. The caller then appends it, a scalar, to the returned state.
    func begin(_ value: @autoclosure () -> Any) throws -> UnsafeMutablePointer<OutputState>
    func encode(_ value: some Encodable) throws
}

extension OutputScalarContainer {
    func encodeNil() throws { try begin("null").pointee.appendNil() }
    func encode(_ value: Bool) throws { try begin(value).pointee.append(value) }
    func encode(_ value: some SignedInteger & FixedWidthInteger & Encodable) throws { try append(Int64(value)) }
    func encode(_ value: some UnsignedInteger & FixedWidthInteger & Encodable) throws { try append(UInt64(value)) }
    func encode(_ value: String) throws { try begin(value).pointee.append(value) }

    func encode(_ value: Double) throws {
        guard value.isFinite else { return try encodeNonFinite(value) }
        try begin(value).pointee.bytes.append(value)
    }

    func encode(_ value: Float) throws {
        guard value.isFinite else { return try encodeNonFinite(value) }
        try begin(value).pointee.bytes.append(value)
    }

    @inline(never)
    private func encodeNonFinite(_ value: any Encodable) throws { try encode(value) }

    // Integers share two functions, so that the compiler does not specialize a copy for each type.

    @inline(never)
    private func append(_ value: Int64) throws { try begin(value).pointee.append(value) }

    @inline(never)
    private func append(_ value: UInt64) throws { try begin(value).pointee.append(value) }
}
