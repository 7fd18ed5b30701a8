/// Nested containers and super encoders.
///
/// A nested container begins in the text of its writer, like any value. When an enclosing value is written to while it
/// is open, it moves with its contents to a separate writer, because later writes to it are allowed until the end.
extension OutputWriter {
    /// Begins a nested container or super encoder for a key. It continues a value of the same key and kind, if any.
    func nested(_ kind: OutputFrame.Kind, forKey key: some CodingKey, in serial: UInt32) -> OutputEncoder {
        let name = settings.convertsKeys ? convertedName(of: key, in: serial) : key.stringValue
        if beginMember(name, in: serial) {
            guard kind != .empty, let member = state.pointee.members.elements.last, member.repeated >= 0 else {
                return begin(kind, key: key)
            }
            let earlier = Int(member.repeated)
            if let known = state.pointee.writer(ofMember: earlier), known.state.pointee.outermost.kind == kind {
                state.pointee.rollBack(serial)
                return OutputEncoder(writer: known, serial: known.state.pointee.outermost.serial)
            }
            let value = state.pointee.value(ofMember: earlier)
            let target = begin(kind, key: key)
            if target.writer === self { state.pointee.repeatValue(value) }
            return target
        }
        if let writer = reach(serial) { return writer.nested(kind, forKey: key, in: serial) }
        return misused(kind, key: key, in: serial)
    }

    /// Begins a nested container or super encoder in an array.
    func nested(_ kind: OutputFrame.Kind, in serial: UInt32) -> OutputEncoder {
        if state.pointee.beginElement(in: serial) { return begin(kind, key: nil) }
        if let writer = reach(serial) { return writer.nested(kind, in: serial) }
        return misused(kind, key: indexKey(in: serial), in: serial)
    }

    /// Makes the value an object or array and returns its writer. When it can no longer be one, the text is never read.
    func opened(_ kind: OutputFrame.Kind, serial: UInt32) -> OutputEncoder {
        if state.pointee.open(kind, serial: serial) {
            if let depth = depth(of: serial), depth >= settings.maximumDepth { settings.isTooDeep = true }
            return OutputEncoder(writer: self, serial: serial)
        }
        if let writer = reach(serial) { return writer.opened(kind, serial: serial) }
        return OutputEncoder(writer: unread(kind), serial: 0)
    }

    /// Begins a nested value after its separator and name.
    private func begin(_ kind: OutputFrame.Kind, key: (any CodingKey)?) -> OutputEncoder {
        guard canNest(kind, in: state.pointee.depth) else { return OutputEncoder(writer: unread(kind), serial: 0) }
        let serial = state.pointee.push { key }
        state.pointee.top.isNested = true
        if kind != .empty { _ = state.pointee.open(kind, serial: serial) }
        return OutputEncoder(writer: self, serial: serial)
    }

    /// Lets the call fail at its end, because requesting a container cannot throw.
    private func misused(_ kind: OutputFrame.Kind, key: any CodingKey, in serial: UInt32) -> OutputEncoder {
        if depth(of: serial) != nil, settings.misuse == nil {
            settings.misuse = misuse(of: serial, key.stringValue, key: key)
        }
        return OutputEncoder(writer: unread(kind), serial: 0)
    }

    private func canNest(_ kind: OutputFrame.Kind, in depth: Int) -> Bool {
        let isDeepest = depth + 1 == settings.maximumDepth && kind == .empty
        if depth + 1 < settings.maximumDepth || isDeepest { return true }
        settings.isTooDeep = true
        return false
    }

    /// Returns the writer in which a value is the one begun last, after moving open nested containers away.
    ///
    /// Nil while another value in it is being encoded, and after the value itself was encoded.
    @inline(never)
    func reach(_ serial: UInt32) -> OutputWriter? {
        if let writer = state.pointee.moved[serial] { return writer }
        guard let index = state.pointee.index(of: serial), index < state.pointee.frames.count else { return nil }
        let inner = state.pointee.frames.elements[(index + 1)...]
        guard state.pointee.top.isNested, inner.allSatisfy(\.isNested) else { return nil }
        move(from: index + 1)
        return self
    }

    /// Moves the open values from `index` on to a separate writer. All of them are nested containers.
    private func move(from index: Int) {
        let source = state
        var frames = Array(source.pointee.frames.elements[index...]) + [source.pointee.top]
        let first = frames[0]
        let outer = source.pointee.frames.elements[index - 1]
        var keys = Array(source.pointee.keys.suffix(frames.count(where: \.hasKey)))
        source.pointee.keys.removeLast(keys.count)
        let key: any CodingKey = first.hasKey ? keys.removeFirst() : JSONPathKey(index: outer.count - 1)
        let writer = OutputWriter(
            in: self, serial: outer.serial, key: key, kind: .empty, depth: source.pointee.baseDepth + index)

        let target = writer.state
        let text = source.pointee.bytes.buffer[first.start...]
        target.pointee.bytes.append(UnsafeBufferPointer(rebasing: text))
        for var member in source.pointee.members.elements[first.firstMember...] {
            member.nameStart -= first.start
            if member.repeated >= 0 { member.repeated -= Int32(truncatingIfNeeded: first.firstMember) }
            target.pointee.members.append(member)
        }
        for position in frames.indices {
            frames[position].start -= first.start
            frames[position].firstMember -= first.firstMember
            let serial = frames[position].serial
            source.pointee.moved[serial] = writer
            source.pointee.nameIndexes[serial] = nil
        }
        frames[0].hasKey = false
        frames[0].isNested = false
        target.pointee.keys = keys
        target.pointee.lastSerial = source.pointee.lastSerial
        if let last = frames.popLast() { target.pointee.top = last }
        for frame in frames { target.pointee.frames.append(frame) }

        let insertions = Array(source.pointee.insertions[...].fromFirst(after: first.start))
        target.pointee.insertions = insertions.map { ($0.position - first.start, $0.writer) }
        source.pointee.insertions.removeLast(insertions.count)
        source.pointee.insertions.append((first.start, writer))
        source.pointee.bytes.count = first.start
        source.pointee.members.keep(first.firstMember)
        source.pointee.top = outer
        source.pointee.frames.keep(index - 1)
    }
}
