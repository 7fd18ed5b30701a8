/// Writes the text of the top-level value, of a nested container or of a super encoder.
///
/// One call uses it, on one thread. Values are appended to the text. ``FastJSONEncoder`` describes the design.
final class OutputWriter {
    let state: UnsafeMutablePointer<OutputState>
    let settings: OutputSettings
    let parent: OutputWriter?
    let parentSerial: UInt32
    let key: (any CodingKey)?

    /// Creates the writer of the top-level value.
    init(settings: OutputSettings) {
        self.settings = settings
        parent = nil
        parentSerial = 0
        key = nil
        state = .allocate(capacity: 1)
        state.initialize(to: OutputState(kind: .scalar, depth: -1, capacity: 1024, settings: settings))
    }

    /// Creates the writer of a value inside a value of another writer.
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

    /// Ends the writer: releases the writers that it refers to, and treats its containers as those of an encoded value.
    func end() {
        state.pointee.insertions = []
        state.pointee.moved = [:]
        state.pointee.frames.keep(0)
        state.pointee.top = OutputFrame(serial: .max, kind: .scalar, start: 0, lastStart: 0, firstMember: 0)
    }

    /// Returns the state with the complete text. Throws when it is too deep, or when a container was requested
    /// too late.
    func finished(_ value: some Encodable) throws -> UnsafeMutablePointer<OutputState> {
        if settings.isTooDeep { throw tooDeep(value) }
        if let misuse = settings.misuse { throw misuse }
        guard !state.pointee.insertions.isEmpty else { return state }
        var whole = OutputBytes(capacity: state.pointee.bytes.count * 2)
        assemble(into: &whole)
        state.pointee.bytes.deallocate()
        state.pointee.bytes = whole
        return state
    }

    private func assemble(into whole: inout OutputBytes) {
        while state.pointee.frames.count > 0 { state.pointee.pop() }
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

    // MARK: Members and elements

    /// Writes the name of a member. The caller then appends the value, a scalar, to the returned state.
    @inline(never)
    func begin(_ key: some CodingKey, in serial: UInt32) throws -> UnsafeMutablePointer<OutputState> {
        let name = settings.convertsKeys ? convertedName(of: key, in: serial) : key.stringValue
        if state.pointee.beginMember(name, in: serial) { return state }
        guard let writer = reach(serial) else { throw misuse(of: serial, name, key: key) }
        return try writer.begin(key, in: serial)
    }

    /// Writes the separator of an element. The caller then appends the value, a scalar, to the returned state.
    @inline(never)
    func beginElement(in serial: UInt32) throws -> UnsafeMutablePointer<OutputState> {
        if state.pointee.beginElement(in: serial) { return state }
        guard let writer = reach(serial) else { throw misuse(of: serial, "", key: indexKey(in: serial)) }
        return try writer.beginElement(in: serial)
    }

    /// Writes the separator of a member and its name. False when the value is not the object begun last.
    @inline(never)
    func beginMember(_ name: String, in serial: UInt32, isUnique: Bool = false) -> Bool {
        state.pointee.beginMember(name, in: serial, isUnique: isUnique)
    }

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
            throw misuse(of: serial, value, key: key)
        }
    }

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
            throw misuse(of: serial, value, key: indexKey(in: serial))
        }
    }

    @inline(never)
    func convertedName(of key: any CodingKey, in serial: UInt32) -> String {
        settings.name(of: key, at: codingPath(of: serial))
    }

    /// Returns a writer whose text is never read, for a value that cannot be inserted anywhere.
    ///
    /// It has no reference to this writer, because releasing a long chain of writers would overflow the stack.
    func unread(_ kind: OutputFrame.Kind) -> OutputWriter {
        let depth = max(state.pointee.depth, settings.maximumDepth)
        return OutputWriter(in: self, serial: 0, key: nil, kind: kind, depth: depth, isRead: false)
    }
}

/// The count, depth and coding path of containers.
extension OutputWriter {
    func count(of serial: UInt32) -> Int {
        if state.pointee.top.serial == serial { return state.pointee.top.count }
        if let writer = state.pointee.moved[serial] { return writer.count(of: serial) }
        return state.pointee.frames.elements.first { $0.serial == serial }?.count ?? 0
    }

    /// Returns the key of the next element of an array.
    func indexKey(in serial: UInt32) -> JSONPathKey { JSONPathKey(index: count(of: serial)) }

    func depth(of serial: UInt32) -> Int? {
        state.pointee.index(of: serial).map { state.pointee.baseDepth + $0 }
    }

    /// Returns the coding path of a value. After the value was encoded, keys that are no longer stored are missing.
    func codingPath(of serial: UInt32) -> [any CodingKey] {
        if let writer = state.pointee.moved[serial] { return writer.codingPath(of: serial) }
        var path = parent?.codingPath(of: parentSerial) ?? []
        if let key { path.append(key) }
        guard let last = state.pointee.index(of: serial) else { return path }
        var keys = state.pointee.keys[...]
        for index in 0..<last {
            let inner =
                index + 1 == state.pointee.frames.count ? state.pointee.top : state.pointee.frames.elements[index + 1]
            let outer = state.pointee.frames.elements[index]
            if outer.kind == .array {
                path.append(JSONPathKey(index: outer.count - 1))
            } else if inner.hasKey, let key = keys.popFirst() {
                path.append(key)
            }
        }
        return path
    }
}

extension OutputState {
    /// Returns the index of a value among the open values, or nil when it is not open.
    func index(of serial: UInt32) -> Int? {
        top.serial == serial ? frames.count : frames.elements.firstIndex { $0.serial == serial }
    }

    var outermost: OutputFrame { frames.elements.first ?? top }
}
