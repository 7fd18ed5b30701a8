/// The elements of an array.
struct OutputUnkeyedContainer: UnkeyedEncodingContainer {
    let writer: OutputWriter
    let serial: UInt32

    var codingPath: [any CodingKey] { writer.codingPath(of: serial) }
    var count: Int { writer.count(of: serial) }

    func encodeNil() throws { try writer.beginElement(in: serial).pointee.appendNil() }
    func encode(_ value: Bool) throws { try writer.beginElement(in: serial).pointee.append(value) }
    func encode(_ value: some SignedInteger & FixedWidthInteger & Encodable) throws {
        try append(Int64(value))
    }
    func encode(_ value: some UnsignedInteger & FixedWidthInteger & Encodable) throws {
        try append(UInt64(value))
    }
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func encode(_ value: Int128) throws { try writer.beginElement(in: serial).pointee.append(value) }
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func encode(_ value: UInt128) throws { try writer.beginElement(in: serial).pointee.append(value) }
    func encode(_ value: String) throws { try writer.beginElement(in: serial).pointee.append(value) }

    func encode(_ value: Double) throws {
        guard value.isFinite else { return try encodeNonFinite(value) }
        try writer.beginElement(in: serial).pointee.bytes.append(value)
    }
    func encode(_ value: Float) throws {
        guard value.isFinite else { return try encodeNonFinite(value) }
        try writer.beginElement(in: serial).pointee.bytes.append(value)
    }

    @inline(never)
    private func encodeNonFinite(_ value: any Encodable) throws { try writer.writeElement(value, in: serial) }

    // Integers share two functions, so that the compiler does not specialize a copy for each type.

    @inline(never)
    private func append(_ value: Int64) throws { try writer.beginElement(in: serial).pointee.append(value) }

    @inline(never)
    private func append(_ value: UInt64) throws { try writer.beginElement(in: serial).pointee.append(value) }

    func encode(_ value: some Encodable) throws {
        try writer.writeElement(value, in: serial)
    }

    func nestedContainer<NestedKey: CodingKey>(keyedBy keyType: NestedKey.Type) -> KeyedEncodingContainer<NestedKey> {
        let place = writer.nested(.object, in: serial)
        return KeyedEncodingContainer(OutputKeyedContainer<NestedKey>(writer: place.writer, serial: place.serial))
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        let place = writer.nested(.array, in: serial)
        return OutputUnkeyedContainer(writer: place.writer, serial: place.serial)
    }

    func superEncoder() -> any Encoder {
        let place = writer.nested(.empty, in: serial)
        return OutputEncoder(writer: place.writer, serial: place.serial)
    }
}
