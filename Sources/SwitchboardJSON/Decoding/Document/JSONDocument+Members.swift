extension JSONDocument {
    /// The largest number of members of an object that is searched without an index.
    static let smallObject = 64

    /// Returns the tape index of a member's value, or 0, the index of a null, when the object has no such member.
    ///
    /// The object's entry stores where the next name is expected, so members read in order need no search.
    @inline(__always)
    func member(_ key: some CodingKey, in object: Int) -> Int {
        var name = key.stringValue
        return name.withUTF8 { name in
            let expected = Int(tape[object].length)
            if expected < Int(tape[object].next), matches(expected, name) {
                if tape[object].flags.contains(.ordered) {
                    foundExpected(expected, in: object)
                } else {
                    tape[object].length = UInt32(truncatingIfNeeded: after(expected + 1))
                }
                return expected + 1
            }
            return search(name, in: object)
        }
    }

    /// Returns whether a name on the tape equals these bytes.
    @inline(__always)
    func matches(_ index: Int, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
        let entry = tape + index
        if entry.pointee.flags != [] { return matchesConverted(index, name) }
        guard Int(entry.pointee.length) == name.count, let other = name.baseAddress else {
            return entry.pointee.length == 0 && name.isEmpty
        }
        return equal(bytes + Int(entry.pointee.offset), other, name.count)
    }

    @inline(__always)
    private func equal(_ left: UnsafePointer<UInt8>, _ right: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        let (left, right) = (UnsafeRawPointer(left), UnsafeRawPointer(right))
        var byteOffset = 0
        if count >= 8 {
            while byteOffset + 8 <= count {
                let (first, second) = (
                    left.loadUnaligned(fromByteOffset: byteOffset, as: UInt64.self),
                    right.loadUnaligned(fromByteOffset: byteOffset, as: UInt64.self)
                )
                if first != second { return false }
                byteOffset += 8
            }
            return left.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
                == right.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
        }
        if count >= 4 {
            return left.loadUnaligned(as: UInt32.self) == right.loadUnaligned(as: UInt32.self)
                && left.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
                    == right.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
        }
        while byteOffset < count {
            if left.load(fromByteOffset: byteOffset, as: UInt8.self)
                != right.load(fromByteOffset: byteOffset, as: UInt8.self)
            {
                return false
            }
            byteOffset += 1
        }
        return true
    }

    @inline(never)
    private func matchesConverted(_ index: Int, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
        withName(at: index) { $0.count == name.count && $0.elementsEqual(name) }
    }

    /// Finds a member whose name is not at the expected index.
    @inline(never)
    private func search(_ name: UnsafeBufferPointer<UInt8>, in object: Int) -> Int {
        let entry = tape + object
        let end = Int(entry.pointee.next)
        if entry.pointee.flags.contains(.ordered) { return searchUnexpected(name, in: object) }
        if Int(entry.pointee.members) > JSONDocument.smallObject, !entry.pointee.flags.contains(.indexed) {
            index(object)
        }
        if entry.pointee.flags.contains(.indexed), let found = indexed(name, in: object) {
            if found != 0 { expect(after(found), in: object) }
            return found
        }
        let expected = Int(entry.pointee.length)
        // With repeated names no index is expected, so the search finds the first member.
        let start = expected < end ? expected : object + 1
        guard let found = scan(for: name, from: start, to: end) ?? scan(for: name, from: object + 1, to: start) else {
            return 0
        }
        learnOrder(of: object)
        expect(after(found), in: object)
        return found
    }

    func expect(_ index: Int, in object: Int) {
        if tape[object].flags.contains(.repeatedNames) { return }
        tape[object].length = UInt32(truncatingIfNeeded: index)
    }

    func scan(for name: UnsafeBufferPointer<UInt8>, from first: Int, to end: Int) -> Int? {
        var index = first
        while index < end {
            if matches(index, name) { return index + 1 }
            index = after(index + 1)
        }
        return nil
    }

    // MARK: - Index

    /// Builds an index of a large object's names, with the first member of each name. Its hashes are seeded.
    func index(_ object: Int) {
        var values: [Int: Int] = [:]
        values.reserveCapacity(Int(tape[object].members))
        var index = object + 1
        while index < Int(tape[object].next) {
            let hash = withName(at: index) { JSONDocument.hash($0) }
            if values[hash] == nil {
                values[hash] = index + 1
            } else {
                repeatNames(in: object)
            }
            index = after(index + 1)
        }
        indexes[object] = values
        tape[object].flags.insert(.indexed)
    }

    /// Returns the indexed value of a name, or 0 when the object lacks the name. Nil when two names share a hash.
    private func indexed(_ name: UnsafeBufferPointer<UInt8>, in object: Int) -> Int? {
        guard let found = indexes[object]?[JSONDocument.hash(name)] else { return 0 }
        return matches(found - 1, name) ? found : nil
    }

    private static func hash(_ name: UnsafeBufferPointer<UInt8>) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: UnsafeRawBufferPointer(name))
        return hasher.finalize()
    }

    /// Marks the object as having a repeated name, so that lookups expect no name at any index.
    func repeatNames(in object: Int) {
        tape[object].flags.insert(.repeatedNames)
        tape[object].length = tape[object].next
    }
}
