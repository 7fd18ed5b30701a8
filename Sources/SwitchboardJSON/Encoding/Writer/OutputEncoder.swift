/// The encoder of a value and its single-value container.
struct OutputEncoder: Encoder, SingleValueEncodingContainer {
    let writer: OutputWriter
    let serial: UInt32

    var codingPath: [any CodingKey] { writer.codingPath(of: serial) }
    var userInfo: [CodingUserInfoKey: Any] { writer.settings.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        let target = writer.opened(.object, serial: serial)
        return KeyedEncodingContainer(OutputKeyedContainer<Key>(writer: target.writer, serial: target.serial))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        let target = writer.opened(.array, serial: serial)
        return OutputUnkeyedContainer(writer: target.writer, serial: target.serial)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() throws { try begin("null").pointee.appendNil() }
    func encode(_ value: Bool) throws { try begin(value).pointee.append(value) }
    func encode(_ value: some SignedInteger & FixedWidthInteger & Encodable) throws {
        try append(Int64(value))
    }
    func encode(_ value: some UnsignedInteger & FixedWidthInteger & Encodable) throws {
        try append(UInt64(value))
    }
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func encode(_ value: Int128) throws { try begin(value).pointee.append(value) }
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func encode(_ value: UInt128) throws { try begin(value).pointee.append(value) }
    func encode(_ value: String) throws { try begin(value).pointee.append(value) }
    func encode(_ value: Double) throws {
        guard value.isFinite else { return try encodeNonFinite(value) }
        try begin(value).pointee.bytes.append(value)
    }
    func encode(_ value: Float) throws {
        guard value.isFinite else { return try encodeNonFinite(value) }
        try begin(value).pointee.bytes.append(value)
    }
    func encode(_ value: some Encodable) throws { try writer.writeSingle(value, serial: serial) }

    @inline(never)
    private func encodeNonFinite(_ value: any Encodable) throws { try writer.writeSingle(value, serial: serial) }

    // Integers share two functions, so that the compiler does not specialize a copy for each type.

    @inline(never)
    private func append(_ value: Int64) throws { try begin(value).pointee.append(value) }

    @inline(never)
    private func append(_ value: UInt64) throws { try begin(value).pointee.append(value) }

    private func begin(_ value: @autoclosure () -> Any) throws -> UnsafeMutablePointer<OutputState> {
        guard writer.state.pointee.beginSingle(serial) else {
            guard let other = writer.reach(serial) else { throw writer.unusable(value(), serial) }
            return try OutputEncoder(writer: other, serial: serial).begin(value())
        }
        writer.state.pointee.top.kind = .scalar
        return writer.state
    }

    /// Writes a number from its text, or throws when the text is not a JSON number.
    func write(number text: String) throws {
        guard text.isJSONNumber else {
            throw EncodingError.invalidValue(
                text, .init(codingPath: codingPath, debugDescription: "it is not a JSON number"))
        }
        try begin(text).pointee.bytes.append(plain: text)
    }
}

extension String {
    /// Whether the text is a JSON number (RFC 8259 §6).
    fileprivate var isJSONNumber: Bool {
        var rest = utf8[...]
        func skipDigits() -> Int {
            let count = rest.prefix { $0 >= 0x30 && $0 <= 0x39 }.count
            rest = rest.dropFirst(count)
            return count
        }
        if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        let hasLeadingZero = rest.first == UInt8(ascii: "0")
        let digits = skipDigits()
        guard digits == 1 || digits > 1 && !hasLeadingZero else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            guard skipDigits() > 0 else { return false }
        }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest = rest.dropFirst()
            if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
            guard skipDigits() > 0 else { return false }
        }
        return rest.isEmpty
    }
}
