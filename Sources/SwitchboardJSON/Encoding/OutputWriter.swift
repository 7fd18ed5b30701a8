/// One stream of text of an encoding call: that of the top-level value, of a nested container or of a super encoder.
///
/// Used by one call on one thread. Values are written at the end of the text; see ``FastJSONEncoder`` for the design.
final class OutputWriter {
    let state: UnsafeMutablePointer<OutputState>
    let settings: OutputSettings
    private let parent: OutputWriter?
    private let parentSerial: UInt32
    private let key: (any CodingKey)?

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
    private init(
        in parent: OutputWriter, serial: UInt32, key: (any CodingKey)?, kind: OutputFrame.Kind, depth: Int,
        isRead: Bool = true
    ) {
        settings = parent.settings
        self.parent = isRead ? parent : nil
        parentSerial = serial
        self.key = key
        state = .allocate(capacity: 1)
        state.initialize(to: OutputState(kind: kind, depth: depth, capacity: 128, settings: settings))
    }

    deinit {
        state.pointee.deallocate()
        state.deinitialize(count: 1)
        state.deallocate()
    }

    /// Lets go of the writers in this one, which hold it.
    func release() {
        let inner = state.pointee.insertions.map(\.writer) + state.pointee.late.map(\.writer)
        state.pointee.insertions = []
        state.pointee.late = []
        for writer in inner { writer.release() }
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
    @inline(__always)
    func begin(_ key: some CodingKey, in serial: UInt32) throws -> UnsafeMutablePointer<OutputState> {
        let name = settings.convertsKeys ? convertedName(of: key, in: serial) : key.stringValue
        if state.pointee.beginMember(name, in: serial) { return state }
        return try beginLate(name, key: key, in: serial).state
    }

    /// Writes what stands before an element; the value is a scalar and belongs at the end of the text returned.
    @inline(__always)
    func beginElement(in serial: UInt32) throws -> UnsafeMutablePointer<OutputState> {
        if state.pointee.beginElement(in: serial) { return state }
        return try beginLate(nil, key: OutputKey(intValue: count(of: serial)), in: serial).state
    }

    /// Writes a member of any kind.
    @inline(__always)
    func writeMember(_ value: some Encodable, forKey key: some CodingKey, in serial: UInt32) throws {
        let name = settings.convertsKeys ? convertedName(of: key, in: serial) : key.stringValue
        if state.pointee.beginMember(name, in: serial) {
            do {
                try write(value, key: { key })
            } catch {
                state.pointee.rollBack(serial)
                throw error
            }
        } else {
            try writeLate(value, to: beginLate(name, key: key, in: serial))
        }
    }

    /// Writes an element of any kind.
    @inline(__always)
    func writeElement(_ value: some Encodable, in serial: UInt32) throws {
        if state.pointee.beginElement(in: serial) {
            do {
                try write(value, key: { nil })
            } catch {
                state.pointee.rollBack(serial)
                throw error
            }
        } else {
            try writeLate(value, to: beginLate(nil, key: OutputKey(intValue: count(of: serial)), in: serial))
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
    private func convertedName(of key: any CodingKey, in serial: UInt32) -> String {
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
                late.name.map { state.pointee.beginMember($0, in: serial) } ?? state.pointee.beginElement(in: serial)
            // The value may have become an array since, or an object.
            guard isBegun else { continue }
            state.pointee.insertions.append((state.pointee.bytes.count, late.writer))
        }
    }

    /// The writer of a nested container or super encoder for a key. One for a container that there is already is that.
    func child(_ key: some CodingKey, in serial: UInt32, kind: OutputFrame.Kind) -> OutputWriter {
        let name = convertedName(of: key, in: serial)
        let isBegun = state.pointee.beginMember(name, in: serial)
        if isBegun, kind != .empty, let member = state.pointee.members.elements.last, member.repeated >= 0,
            let known = state.pointee.writer(ofMember: Int(member.repeated)), known.state.pointee.outermostKind == kind
        {
            state.pointee.rollBack(serial)
            return known
        }
        return child(name, key: key, in: serial, kind: kind, isBegun: isBegun)
    }

    /// The writer of a nested container or super encoder in an array.
    func childElement(in serial: UInt32, kind: OutputFrame.Kind) -> OutputWriter {
        let key = OutputKey(intValue: count(of: serial))
        return child(nil, key: key, in: serial, kind: kind, isBegun: state.pointee.beginElement(in: serial))
    }

    private func child(
        _ name: String?, key: any CodingKey, in serial: UInt32, kind: OutputFrame.Kind, isBegun: Bool
    ) -> OutputWriter {
        guard let depth = depth(of: serial) else { return unread(kind) }
        guard depth + 1 < settings.maximumDepth || kind == .empty && depth + 1 == settings.maximumDepth else {
            settings.isTooDeep = true
            return unread(kind)
        }
        let writer = OutputWriter(in: self, serial: serial, key: key, kind: kind, depth: depth + 1)
        if isBegun {
            state.pointee.insertions.append((state.pointee.bytes.count, writer))
        } else {
            state.pointee.late.append((serial, name, writer))
        }
        return writer
    }

    /// A writer for what has no place; nobody reads it. It does not hold this one: letting go of a long chain of
    /// writers would overflow the stack.
    func unread(_ kind: OutputFrame.Kind) -> OutputWriter {
        let depth = max(state.pointee.depth, settings.maximumDepth)
        return OutputWriter(in: self, serial: 0, key: nil, kind: kind, depth: depth, isRead: false)
    }

    // MARK: What a container says about itself

    /// How many elements an array has.
    func count(of serial: UInt32) -> Int {
        if state.pointee.top.serial == serial { return state.pointee.top.count }
        let frame = state.pointee.frames.elements.first { $0.serial == serial }
        return (frame?.count ?? 0) + state.pointee.late.count { $0.serial == serial }
    }

    private func depth(of serial: UInt32) -> Int? {
        state.pointee.index(of: serial).map { state.pointee.baseDepth + $0 }
    }

    /// The keys from the top-level value to a value; without those that are no longer known once it is encoded.
    func codingPath(of serial: UInt32) -> [any CodingKey] {
        var path = parent?.codingPath(of: parentSerial) ?? []
        if let key { path.append(key) }
        guard let last = state.pointee.index(of: serial) else { return path }
        var keys = state.pointee.keys[...]
        for index in 0..<last {
            let inner = index + 1 == state.pointee.frames.count ? state.pointee.top : state.pointee.frames.elements[index + 1]
            let outer = state.pointee.frames.elements[index]
            if outer.kind == .array {
                path.append(OutputKey(intValue: outer.count - 1))
            } else if inner.hasKey, let key = keys.popFirst() {
                path.append(key)
            }
        }
        return path
    }
}

extension OutputState {
    /// Where a value stands among those that are open.
    func index(of serial: UInt32) -> Int? {
        top.serial == serial ? frames.count : frames.elements.firstIndex { $0.serial == serial }
    }

    var outermostKind: OutputFrame.Kind { (frames.elements.first ?? top).kind }
}
