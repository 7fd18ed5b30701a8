import Foundation

extension OutputWriter {
    /// Writes a value at the end of the text, after its separator and name. `key` returns its key when it is a member.
    @inline(__always)
    func write<Value: Encodable>(_ value: Value, key: () -> (any CodingKey)?) throws {
        try write(value, typeInfo: settings.typeInfo(of: Value.self), key: key)
    }

    func write<Value: Encodable>(_ value: Value, typeInfo: OutputTypeInfo, key: () -> (any CodingKey)?) throws {
        if typeInfo.kind.isScalar { return try writeScalar(value, kind: typeInfo.kind, key: key) }
        if typeInfo.kind == .optional, let direct = typeInfo.direct {
            return try withUnsafePointer(to: value) { try direct.write($0, to: self, serial: 0, key: key) }
        }
        let count = state.pointee.frames.count
        guard state.pointee.depth < settings.maximumDepth else { throw tooDeep(value) }
        guard state.pointee.stack.hasSpace() else { throw noStack(value) }
        let serial = state.pointee.push(key)
        do {
            try fill(value, typeInfo: typeInfo, serial: serial)
        } catch {
            state.pointee.unwind(to: count)
            throw error
        }
        while state.pointee.top.serial != serial { state.pointee.pop() }
        if state.pointee.depth >= settings.maximumDepth, state.pointee.top.kind != .scalar { settings.isTooDeep = true }
        state.pointee.pop()
    }

    /// Writes a value through a single-value container.
    func writeSingle<Value: Encodable>(_ value: Value, serial: UInt32) throws {
        guard state.pointee.beginSingle(serial) else {
            guard let writer = reach(serial) else { throw misuse(of: serial, value) }
            return try writer.writeSingle(value, serial: serial)
        }
        let typeInfo = settings.typeInfo(of: Value.self)
        if typeInfo.kind.isScalar {
            try writeScalar(value, kind: typeInfo.kind, key: { nil })
            state.pointee.top.kind = .scalar
            return
        }
        guard state.pointee.singles < 4 * settings.maximumDepth + 64 else { throw tooDeep(value) }
        guard state.pointee.stack.hasSpace() else { throw noStack(value) }
        let count = state.pointee.frames.count
        state.pointee.singles += 1
        defer { state.pointee.singles -= 1 }
        do {
            try fill(value, typeInfo: typeInfo, serial: serial)
        } catch {
            state.pointee.unwind(to: count)
            _ = state.pointee.beginSingle(serial)
            throw error
        }
    }

    /// Writes a value that has members or an `encode(to:)`, into the frame begun last.
    private func fill<Value: Encodable>(_ value: Value, typeInfo: OutputTypeInfo, serial: UInt32) throws {
        switch typeInfo.kind {
        case .direct:
            guard let direct = typeInfo.direct else { return }
            try withUnsafePointer(to: value) { try direct.write($0, to: self, serial: serial, key: { nil }) }
        case .strings: fill(unsafeBitCast(value, to: [String].self), serial: serial)
        case .integers: fill(unsafeBitCast(value, to: [Int].self), serial: serial)
        case .doubles: try fill(unsafeBitCast(value, to: [Double].self), serial: serial)
        case .customDate, .customData: try fillByStrategy(value, serial: serial)
        default: try value.encode(to: OutputEncoder(writer: self, serial: serial))
        }
    }

    private func fillByStrategy<Value: Encodable>(_ value: Value, serial: UInt32) throws {
        let encoder = OutputEncoder(writer: self, serial: serial)
        if case .custom(let encode) = settings.dateStrategy, let date = value as? Date {
            try encode(date, encoder)
        } else if case .custom(let encode) = settings.dataStrategy, let data = value as? Data {
            try encode(data, encoder)
        }
    }

    private func fill(_ values: [String], serial: UInt32) {
        _ = state.pointee.open(.array, serial: serial)
        for value in values {
            _ = state.pointee.beginElement(in: serial)
            state.pointee.append(value)
        }
    }

    private func fill(_ values: [Int], serial: UInt32) {
        _ = state.pointee.open(.array, serial: serial)
        for value in values {
            _ = state.pointee.beginElement(in: serial)
            state.pointee.bytes.append(Int64(value))
        }
    }

    private func fill(_ values: [Double], serial: UInt32) throws {
        _ = state.pointee.open(.array, serial: serial)
        for value in values {
            _ = state.pointee.beginElement(in: serial)
            if value.isFinite {
                state.pointee.bytes.append(value)
            } else {
                state.pointee.append(try text(ofNonFinite: value, key: { nil }))
            }
        }
    }

    // MARK: Errors

    /// Returns the path of the value being written: a member or element of the value begun last, or that value.
    private func path(appending key: () -> (any CodingKey)?) -> [any CodingKey] {
        let top = state.pointee.top
        let path = codingPath(of: top.serial)
        if top.kind == .object, let key = key() { return path + [key] }
        return top.kind == .array ? path + [JSONPathKey(index: top.count - 1)] : path
    }

    func invalid(_ value: Any, key: () -> (any CodingKey)?, _ description: String) -> EncodingError {
        .invalidValue(value, .init(codingPath: path(appending: key), debugDescription: description))
    }

    func tooDeep(_ value: Any) -> EncodingError {
        invalid(value, key: { nil }, "more than \(settings.maximumDepth) nested arrays and objects")
    }

    @inline(never)
    private func noStack(_ value: Any) -> EncodingError {
        invalid(value, key: { nil }, "the value is nested too deeply for the stack of this thread")
    }

    /// Returns the error for a container that was used too late.
    func misuse(of serial: UInt32, _ value: Any, key: (any CodingKey)? = nil) -> EncodingError {
        let path = codingPath(of: serial) + [key].compactMap { $0 }
        let time = depth(of: serial) == nil ? "after the value it belongs to was" : "while one of its values was being"
        return .invalidValue(value, .init(codingPath: path, debugDescription: "a container was used \(time) encoded"))
    }

    /// Returns the text for infinity or NaN, or throws when the strategy is `throw`.
    func text(ofNonFinite value: some BinaryFloatingPoint, key: () -> (any CodingKey)?) throws -> String {
        switch settings.floatStrategy {
        case .throw: throw invalid(value, key: key, "\(value) is not a finite number")
        case .convertToString(let positive, let negative, let nan):
            return value.isNaN ? nan : value > 0 ? positive : negative
        }
    }
}
