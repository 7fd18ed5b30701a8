/// The encoder of a value and its single-value container.
struct OutputEncoder: Encoder, SingleValueEncodingContainer, OutputScalarContainer {
    let writer: OutputWriter
    let serial: UInt32

    var codingPath: [any CodingKey] { writer.codingPath(of: serial) }
    var userInfo: [CodingUserInfoKey: Any] { writer.settings.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        writer.settings.container(type, writer.opened(.object, serial: serial))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        writer.opened(.array, serial: serial).elements
    }

    /// The container of an array that is open.
    var elements: OutputUnkeyedContainer { OutputUnkeyedContainer(writer: writer, serial: serial) }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func encode(_ value: Int128) throws { try begin(value).pointee.append(value) }
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func encode(_ value: UInt128) throws { try begin(value).pointee.append(value) }
    func encode(_ value: some Encodable) throws { try writer.writeSingle(value, serial: serial) }

    func begin(_ value: @autoclosure () -> Any) throws -> UnsafeMutablePointer<OutputState> {
        guard writer.state.pointee.beginSingle(serial) else {
            guard let other = writer.reach(serial) else { throw writer.misuse(of: serial, value()) }
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
    package var isJSONNumber: Bool {
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
