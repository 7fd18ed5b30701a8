/// A container of the standard library that is written without its `encode(to:)`, which would ask for a container.
protocol DirectValue {
    /// Writes the value at an address.
    ///
    /// - Parameters:
    ///   - serial: The value begun for it, which becomes an array or an object. An optional is written as the value in it.
    ///   - key: The key of the member that an optional is.
    static func write(
        _ value: UnsafeRawPointer, to writer: OutputWriter, serial: UInt32, key: () -> (any CodingKey)?
    ) throws
}

/// An optional, whose type alone tells it from the other direct values.
protocol DirectOptional: DirectValue {}

extension Array: DirectValue where Element: Encodable {
    static func write(
        _ value: UnsafeRawPointer, to writer: OutputWriter, serial: UInt32, key: () -> (any CodingKey)?
    ) throws {
        let elements = value.assumingMemoryBound(to: Self.self).pointee
        let route = writer.settings.route(of: Element.self)
        _ = writer.state.pointee.open(.array, serial: serial)
        for element in elements {
            _ = writer.state.pointee.beginElement(in: serial)
            try writer.write(element, route: route, key: { nil })
        }
    }
}

extension Dictionary: DirectValue where Key == String, Value: Encodable {
    /// Writes the members in the order of their names, which are neither converted nor repeated.
    static func write(
        _ value: UnsafeRawPointer, to writer: OutputWriter, serial: UInt32, key: () -> (any CodingKey)?
    ) throws {
        let route = writer.settings.route(of: Value.self)
        _ = writer.state.pointee.open(.object, serial: serial)
        var names: [(name: String, index: Int)] = []
        var values: [Value] = []
        for (name, value) in value.assumingMemoryBound(to: Self.self).pointee {
            names.append((name, values.count))
            values.append(value)
        }
        OutputSettings.sort(&names, byUTF8: writer.settings.sortsNames)
        for (name, index) in names {
            _ = writer.state.pointee.beginMember(name, in: serial, isUnique: true)
            try writer.write(values[index], route: route, key: { OutputKey(stringValue: name) })
        }
    }
}

extension Optional: DirectValue, DirectOptional where Wrapped: Encodable {
    static func write(
        _ value: UnsafeRawPointer, to writer: OutputWriter, serial: UInt32, key: () -> (any CodingKey)?
    ) throws {
        guard let wrapped = value.assumingMemoryBound(to: Self.self).pointee else { return writer.state.pointee.appendNil() }
        try writer.write(wrapped, route: writer.settings.route(of: Wrapped.self), key: key)
    }
}
