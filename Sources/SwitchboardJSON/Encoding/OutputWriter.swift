/// One stream of text of an encoding call: that of the top-level value, of a nested container or of a super encoder.
///
/// Used by one call on one thread. Values are written at the end of the text; see ``FastJSONEncoder`` for the design.
final class OutputWriter {
    let state: UnsafeMutablePointer<OutputState>
    let settings: OutputSettings
    let parent: OutputWriter?
    let parentSerial: UInt32
    let key: (any CodingKey)?

    /// The writer of the top-level value.
    init(settings: OutputSettings) {
        self.settings = settings
        parent = nil
        parentSerial = 0
        key = nil
        state = .allocate(capacity: 1)
        state.initialize(to: OutputState(kind: .scalar, depth: -1, capacity: 1024, settings: settings))
    }

    /// The writer of a value in a value of another writer.
    init(
        in parent: OutputWriter, serial: UInt32, key: (any CodingKey)?, kind: OutputFrame.Kind, depth: Int,
        isRead: Bool = true
    ) {
        settings = parent.settings
        self.parent = isRead ? parent : nil
        parentSerial = serial
        self.key = key
        state = .allocate(capacity: 1)
        state.initialize(to: OutputState(kind: kind, depth: depth, capacity: 128, settings: settings))
        if isRead { settings.writers.append(self) }
    }

    deinit {
        state.pointee.deallocate()
        state.deinitialize(count: 1)
        state.deallocate()
    }

    /// Ends the use of the writer: it lets go of all others, and its containers are those of an encoded value.
    func end() {
        state.pointee.insertions = []
        state.pointee.late = []
        state.pointee.moved = [:]
        state.pointee.frames.keep(0)
        state.pointee.top = OutputFrame(serial: .max, kind: .scalar, start: 0, lastStart: 0, firstMember: 0)
    }

    /// The whole text, once everything is written. Valid until the writer is changed or gone.
    func finished(_ value: some Encodable) throws -> UnsafeBufferPointer<UInt8> {
        flushLate()
        if settings.isTooDeep { throw tooDeep(value) }
        guard !state.pointee.insertions.isEmpty else { return state.pointee.bytes.buffer }
        var whole = OutputBytes(capacity: state.pointee.bytes.count * 2)
        assemble(into: &whole)
        state.pointee.bytes.deallocate()
        state.pointee.bytes = whole
        return whole.buffer
    }

    private func assemble(into whole: inout OutputBytes) {
        while state.pointee.frames.count > 0 { close() }
        flushLate()
        state.pointee.closeOutermost()
        let own = state.pointee.bytes.buffer
        var position = 0
        for insertion in state.pointee.insertions {
            whole.append(UnsafeBufferPointer(rebasing: own[position..<insertion.position]))
            insertion.writer.assemble(into: &whole)
            position = insertion.position
        }
        whole.append(UnsafeBufferPointer(rebasing: own[position...]))
    }

    // MARK: Places

    /// Writes the name of a member; the value is a scalar and belongs at the end of the text returned.
    @inline(never)
    func begin(_ key: some CodingKey, in serial: UInt32) throws -> UnsafeMutablePointer<OutputState> {
        let name = settings.convertsKeys ? convertedName(of: key, in: serial) : key.stringValue
        if state.pointee.beginMember(name, in: serial) { return state }
        if let writer = reach(serial) { return try writer.begin(key, in: serial) }
        return try beginLate(name, key: key, in: serial).state
    }

    /// Writes what stands before an element; the value is a scalar and belongs at the end of the text returned.
    @inline(never)
    func beginElement(in serial: UInt32) throws -> UnsafeMutablePointer<OutputState> {
        if state.pointee.beginElement(in: serial) { return state }
        if let writer = reach(serial) { return try writer.beginElement(in: serial) }
        return try beginLate(nil, key: JSONPathKey(index: count(of: serial)), in: serial).state
    }

    /// Writes the separator of a member and its name. False when the value is no open object.
    @inline(never)
    func beginMember(_ name: String, in serial: UInt32, isUnique: Bool = false) -> Bool {
        state.pointee.beginMember(name, in: serial, isUnique: isUnique)
    }

    /// Writes a member of any kind.
    @inline(never)
    func writeMember(_ value: some Encodable, forKey key: some CodingKey, in serial: UInt32) throws {
        let name = settings.convertsKeys ? convertedName(of: key, in: serial) : key.stringValue
        if beginMember(name, in: serial) {
            do {
                try write(value, key: { key })
            } catch {
                state.pointee.rollBack(serial)
                throw error
            }
        } else if let writer = reach(serial) {
            try writer.writeMember(value, forKey: key, in: serial)
        } else {
            try writeLate(value, to: beginLate(name, key: key, in: serial))
        }
    }

    /// Writes an element of any kind.
    @inline(never)
    func writeElement(_ value: some Encodable, in serial: UInt32) throws {
        if state.pointee.beginElement(in: serial) {
            do {
                try write(value, key: { nil })
            } catch {
                state.pointee.rollBack(serial)
                throw error
            }
        } else if let writer = reach(serial) {
            try writer.writeElement(value, in: serial)
        } else {
            try writeLate(value, to: beginLate(nil, key: JSONPathKey(index: count(of: serial)), in: serial))
        }
    }

    @inline(never)
    private func writeLate(_ value: some Encodable, to writer: OutputWriter) throws {
        do {
            try writer.write(value, key: { nil })
        } catch {
            state.pointee.late.removeAll { $0.writer === writer }
            throw error
        }
    }

    @inline(never)
    func convertedName(of key: any CodingKey, in serial: UInt32) -> String {
        settings.name(of: key, at: codingPath(of: serial))
    }

    /// A writer for a member or element of a value in which another value is being written: it follows that one.
    @inline(never)
    private func beginLate(_ name: String?, key: any CodingKey, in serial: UInt32) throws -> OutputWriter {
        guard let depth = depth(of: serial) else {
            throw EncodingError.invalidValue(
                key.stringValue,
                .init(
                    codingPath: codingPath(of: serial) + [key],
                    debugDescription: "a container was used after the value it belongs to was encoded"))
        }
        let writer = OutputWriter(in: self, serial: serial, key: key, kind: .scalar, depth: depth)
        state.pointee.late.append((serial, name, writer))
        return writer
    }

    func flushLate() {
        while !state.pointee.late.isEmpty {
            let serial = state.pointee.top.serial
            guard let index = state.pointee.late.firstIndex(where: { $0.serial == serial }) else { return }
            let late = state.pointee.late.remove(at: index)
            let isBegun =
                late.name.map { beginMember($0, in: serial) } ?? state.pointee.beginElement(in: serial)
            // The value may have become an array since, or an object.
            guard isBegun else { continue }
            state.pointee.insertions.append((state.pointee.bytes.count, late.writer))
        }
    }

    /// A writer for what has no place; nobody reads it. It does not hold this one: letting go of a long chain of
    /// writers would overflow the stack.
    func unread(_ kind: OutputFrame.Kind) -> OutputWriter {
        let depth = max(state.pointee.depth, settings.maximumDepth)
        return OutputWriter(in: self, serial: 0, key: nil, kind: kind, depth: depth, isRead: false)
    }
}
