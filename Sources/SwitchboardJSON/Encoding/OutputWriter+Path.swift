/// What a container says about itself.
extension OutputWriter {
    /// How many elements an array has.
    func count(of serial: UInt32) -> Int {
        if state.pointee.top.serial == serial { return state.pointee.top.count }
        if let writer = state.pointee.moved[serial] { return writer.count(of: serial) }
        let frame = state.pointee.frames.elements.first { $0.serial == serial }
        return (frame?.count ?? 0) + state.pointee.late.count { $0.serial == serial }
    }

    func depth(of serial: UInt32) -> Int? {
        state.pointee.index(of: serial).map { state.pointee.baseDepth + $0 }
    }

    /// The keys from the top-level value to a value; without those that are no longer known once it is encoded.
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
    /// Where a value stands among those that are open.
    func index(of serial: UInt32) -> Int? {
        top.serial == serial ? frames.count : frames.elements.firstIndex { $0.serial == serial }
    }

    var outermost: OutputFrame { frames.elements.first ?? top }
}
