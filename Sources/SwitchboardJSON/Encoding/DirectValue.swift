/// A standard library type that is written directly, without the container that its `encode(to:)` would request.
protocol DirectValue {
    static var isOptional: Bool { get }
    /// Writes the value at an address. `serial` identifies the frame begun for it, which becomes an array or an object.
    ///
    /// An optional has no frame: its wrapped value is written. `key` returns the key when the optional is a member.
    static func write(
        _ value: UnsafeRawPointer, to writer: OutputWriter, serial: UInt32, key: () -> (any CodingKey)?
    ) throws
}

extension DirectValue {
    static var isOptional: Bool { false }
}

extension Array: DirectValue where Element: Encodable {
    static func write(
        _ value: UnsafeRawPointer, to writer: OutputWriter, serial: UInt32, key: () -> (any CodingKey)?
    ) throws {
        let elements = value.assumingMemoryBound(to: Self.self).pointee
        let typeInfo = writer.settings.typeInfo(of: Element.self)
        _ = writer.state.pointee.open(.array, serial: serial)
        for element in elements {
            _ = writer.state.pointee.beginElement(in: serial)
            try writer.write(element, typeInfo: typeInfo, key: { nil })
        }
    }
}

extension Dictionary: DirectValue where Key: Encodable, Value: Encodable {
    /// Writes the members in the order of their names. `String` keys are not converted and cannot repeat.
    static func write(
        _ value: UnsafeRawPointer, to writer: OutputWriter, serial: UInt32, key: () -> (any CodingKey)?
    ) throws {
        guard Key.self == String.self else {
            let members = value.assumingMemoryBound(to: Self.self).pointee
            try members.encode(to: OutputEncoder(writer: writer, serial: serial))
            let top = writer.state.pointee.top
            if top.serial == serial, top.kind == .object { writer.state.pointee.top.isDictionary = true }
            return
        }
        _ = writer.state.pointee.open(.object, serial: serial)
        // The compiler specializes code for the frequent types named here.
        if Value.self == String.self {
            let members = value.assumingMemoryBound(to: [String: String].self).pointee
            members.writeMembers(to: writer, serial: serial) { text, _ in writer.state.pointee.append(text) }
        } else if Value.self == Int.self {
            let members = value.assumingMemoryBound(to: [String: Int].self).pointee
            members.writeMembers(to: writer, serial: serial) { number, _ in writer.state.pointee.append(number) }
        } else {
            let typeInfo = writer.settings.typeInfo(of: Value.self)
            let members = value.assumingMemoryBound(to: [String: Value].self).pointee
            try members.writeMembers(to: writer, serial: serial) { value, name in
                try writer.write(value, typeInfo: typeInfo, key: { JSONPathKey(stringValue: name) })
            }
        }
    }
}

extension Dictionary where Key == String {
    fileprivate func writeMembers(
        to writer: OutputWriter, serial: UInt32, _ write: (_ value: Value, _ name: String) throws -> Void
    ) rethrows {
        var names: [(name: String, index: Int)] = []
        var values: [Value] = []
        names.reserveCapacity(count)
        values.reserveCapacity(count)
        for (name, value) in self {
            names.append((name, values.count))
            values.append(value)
        }
        OutputSettings.sort(&names, byUTF8: writer.settings.sortsNames)
        for (name, index) in names {
            _ = writer.beginMember(name, in: serial, isUnique: true)
            try write(values[index], name)
        }
    }
}

extension Optional: DirectValue where Wrapped: Encodable {
    static var isOptional: Bool { true }

    static func write(
        _ value: UnsafeRawPointer, to writer: OutputWriter, serial: UInt32, key: () -> (any CodingKey)?
    ) throws {
        guard let wrapped = value.assumingMemoryBound(to: Self.self).pointee else {
            return writer.state.pointee.appendNil()
        }
        try writer.write(wrapped, typeInfo: writer.settings.typeInfo(of: Wrapped.self), key: key)
    }
}
