/// The count, depth and coding path of containers.
extension OutputWriter {
    /// Returns the number of elements of an array.
    func count(of serial: UInt32) -> Int {
        if state.pointee.top.serial == serial { return state.pointee.top.count }
        if let writer = state.pointee.moved[serial] { return writer.count(of: serial) }
        let frame = state.pointee.frames.elements.first { $0.serial == serial }
        return (frame?.count ?? 0) + state.pointee.late.count { $0.serial == serial }
    }

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
