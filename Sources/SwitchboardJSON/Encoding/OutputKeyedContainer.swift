/// The members of an object.
struct OutputKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let writer: OutputWriter
    let serial: UInt32

    var codingPath: [any CodingKey] { writer.codingPath(of: serial) }

    func encodeNil(forKey key: Key) throws { try writer.begin(key, in: serial).writeNil() }
    func encode(_ value: Bool, forKey key: Key) throws { try writer.begin(key, in: serial).write(value) }
    func encode(_ value: String, forKey key: Key) throws {
        try writer.begin(key, in: serial).state.pointee.append(value)
    }
    func encode(_ value: Int, forKey key: Key) throws { try writer.begin(key, in: serial).write(value) }
    func encode(_ value: Int8, forKey key: Key) throws { try writer.begin(key, in: serial).write(value) }
    func encode(_ value: Int16, forKey key: Key) throws { try writer.begin(key, in: serial).write(value) }
    func encode(_ value: Int32, forKey key: Key) throws { try writer.begin(key, in: serial).write(value) }
    func encode(_ value: Int64, forKey key: Key) throws { try writer.begin(key, in: serial).write(value) }
    func encode(_ value: UInt, forKey key: Key) throws { try writer.begin(key, in: serial).write(value) }
    func encode(_ value: UInt8, forKey key: Key) throws { try writer.begin(key, in: serial).write(value) }
    func encode(_ value: UInt16, forKey key: Key) throws { try writer.begin(key, in: serial).write(value) }
    func encode(_ value: UInt32, forKey key: Key) throws { try writer.begin(key, in: serial).write(value) }
    func encode(_ value: UInt64, forKey key: Key) throws { try writer.begin(key, in: serial).write(value) }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func encode(_ value: Int128, forKey key: Key) throws { try writer.begin(key, in: serial).write(value) }
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func encode(_ value: UInt128, forKey key: Key) throws { try writer.begin(key, in: serial).write(value) }

    func encode(_ value: Double, forKey key: Key) throws {
        guard value.isFinite else { return try encodeAny(value, forKey: key) }
        try writer.begin(key, in: serial).state.pointee.bytes.append(value)
    }

    func encode(_ value: Float, forKey key: Key) throws { try encodeAny(value, forKey: key) }
    func encode(_ value: some Encodable, forKey key: Key) throws { try encodeAny(value, forKey: key) }

    private func encodeAny(_ value: some Encodable, forKey key: Key) throws {
        let place = try writer.begin(key, in: serial)
        do {
            try place.write(value, key: { key })
        } catch {
            writer.rollBack(place, in: serial)
            throw error
        }
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        let child = writer.child(key, in: serial, kind: .object)
        return KeyedEncodingContainer(OutputKeyedContainer<NestedKey>(writer: child, serial: 0))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        OutputUnkeyedContainer(writer: writer.child(key, in: serial, kind: .array), serial: 0)
    }

    func superEncoder() -> any Encoder {
        OutputEncoder(writer: writer.child(OutputKey.parent, in: serial, kind: .empty), serial: 0)
    }

    func superEncoder(forKey key: Key) -> any Encoder {
        OutputEncoder(writer: writer.child(key, in: serial, kind: .empty), serial: 0)
    }
}
