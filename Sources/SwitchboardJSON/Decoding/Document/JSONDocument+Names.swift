import Foundation

extension JSONDocument {
    /// Prepares an object for its first keyed container: converts its names and finds repeated ones.
    @inline(__always)
    func prepare(_ object: Int) {
        if !tape[object].flags.contains(.prepared) { prepareNames(of: object) }
    }

    private func prepareNames(of object: Int) {
        let entry = tape + object
        entry.pointee.flags.insert(.prepared)
        if case .useDefaultKeys = decoder.keyDecodingStrategy {
            if entry.pointee.flags.contains(.escapedNames) {
                convertNames(of: object) { tape[$0].flags.contains(.escaped) ? rawName(at: $0) : nil }
            }
        } else {
            var path = isCustomKeyed ? path(to: object) : []
            convertNames(of: object) { convertedName(at: $0, path: &path) }
        }
        if entry.pointee.members > JSONDocument.mostSlottedMembers {
            index(object)
        } else {
            findRepeatedNames(of: object)
        }
    }

    private var isCustomKeyed: Bool {
        if case .custom = decoder.keyDecodingStrategy { return true }
        return false
    }

    private func convertNames(of object: Int, _ convert: (Int) -> String?) {
        forgetLongNames(of: object)
        var index = object + 1
        while index < Int(tape[object].next) {
            if var name = convert(index) {
                tape[index].next = UInt32(truncatingIfNeeded: converted.count)
                tape[index].flags.insert(.converted)
                name.withUTF8 { name in
                    withUnsafeBytes(of: UInt32(truncatingIfNeeded: name.count)) { converted.append(contentsOf: $0) }
                    converted.append(contentsOf: name)
                }
            }
            index = after(index + 1)
        }
    }

    /// Returns the name after the key strategy, or nil when the strategy leaves it unchanged.
    private func convertedName(at index: Int, path: inout [any CodingKey]) -> String? {
        switch decoder.keyDecodingStrategy {
        case .useDefaultKeys: return nil
        case .custom(let convert):
            path.append(JSONPathKey(stringValue: rawName(at: index)))
            defer { path.removeLast() }
            return convert(path).stringValue
        case .convertFromSnakeCase:
            if !tape[index].flags.contains(.escaped), !text(of: index).contains(UInt8(ascii: "_")) { return nil }
            return SnakeCase.camelCase(rawName(at: index))
        }
    }

    /// The largest number of members for the hash table of `findRepeatedNames(of:)`. Larger objects get an index.
    private static let mostSlottedMembers = 512

    /// Returns the number of slots for objects of at most this many members.
    static func slotCount(forNames count: Int) -> Int {
        var slots = 16
        while slots < 4 * count, slots < 2 * mostSlottedMembers { slots *= 2 }
        return slots
    }

    /// Checks whether a name occurs twice, with a small hash table that is at most half full.
    ///
    /// After too many collisions the object gets an index with seeded hashes, so crafted names cannot slow this down.
    private func findRepeatedNames(of object: Int) {
        nameSlotUses += 1
        let generation = nameSlotUses << 32
        let last = nameSlots.count - 1
        guard let slots = nameSlots.baseAddress else { return }
        let end = Int(tape[object].next)
        var index = object + 1
        var steps = Int(tape[object].members) * 8
        while index < end {
            var slot = slotHash(index) & last
            while slots[slot] & ~0xFFFF_FFFF == generation {
                if hasSameName(Int(slots[slot] & 0xFFFF_FFFF), index) { return repeatNames(in: object) }
                slot = (slot + 1) & last
                steps -= 1
                if steps < 0 { return self.index(object) }
            }
            slots[slot] = generation | UInt64(index)
            index = after(index + 1)
        }
    }

    /// Computes a hash of the first and last eight bytes and the length. Converted and unconverted names hash alike.
    @inline(__always)
    private func slotHash(_ index: Int) -> Int {
        if tape[index].flags.contains(.converted) { return convertedSlotHash(index) }
        // The first load may read bytes after the name; the mask removes them.
        let text = text(of: index)
        let count = text.count
        let start = UnsafeRawPointer(bytes + Int(tape[index].offset))
        var first = start.loadUnaligned(as: UInt64.self).littleEndian
        var last = first
        if count < 8 {
            first &= (1 << UInt64(count * 8)) - 1
            last = 0
        } else {
            last = start.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self).littleEndian
        }
        return slotHash(first, last, count)
    }

    @inline(never)
    private func convertedSlotHash(_ index: Int) -> Int {
        withName(at: index) { name in
            func word(_ offsets: Range<Int>) -> UInt64 {
                var word: UInt64 = 0
                for offset in offsets { word |= UInt64(name[offset]) << UInt64((offset - offsets.lowerBound) * 8) }
                return word
            }
            let count = name.count
            return slotHash(word(0..<min(count, 8)), count < 8 ? 0 : word(count - 8..<count), count)
        }
    }

    @inline(__always)
    private func slotHash(_ first: UInt64, _ last: UInt64, _ count: Int) -> Int {
        let mixed = (first &* 0x9E37_79B9_7F4A_7C15) ^ ((last ^ UInt64(count)) &* 0xC2B2_AE3D_27D4_EB4F)
        return Int(truncatingIfNeeded: (mixed &* 0x9E37_79B9_7F4A_7C15) >> 54)
    }

    private func hasSameName(_ left: Int, _ right: Int) -> Bool {
        withName(at: left) { left in
            withName(at: right) { left.count == $0.count && left.elementsEqual($0) }
        }
    }

    // MARK: - Names

    /// Passes the name that coding keys are compared with to the body.
    @inline(__always)
    func withName<Result>(at index: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        let entry = tape + index
        guard entry.pointee.flags.contains(.converted) else { return body(text(of: index)) }
        let start = Int(entry.pointee.next)
        return converted.withUnsafeBufferPointer { converted in
            let length = UnsafeRawBufferPointer(converted).loadUnaligned(fromByteOffset: start, as: UInt32.self)
            return body(UnsafeBufferPointer(rebasing: converted[(start + 4)..<(start + 4 + Int(length))]))
        }
    }

    /// Returns the name that coding keys are compared with.
    func name(at index: Int) -> String {
        if tape[index].flags == .escaped { return rawName(at: index) }
        return withName(at: index) { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the unescaped name before the key strategy.
    func rawName(at index: Int) -> String {
        JSONStringText.string(text(of: index), isEscaped: tape[index].flags.contains(.escaped))
    }

    /// Returns the names of an object for `allKeys`, in their order and without repetition.
    func names(of object: Int) -> [String] {
        var names: [String] = []
        names.reserveCapacity(Int(tape[object].members))
        var seen: Set<JSONName> = []
        let isRepeated = tape[object].flags.contains(.repeatedNames)
        var index = object + 1
        while index < Int(tape[object].next) {
            let name = name(at: index)
            if !isRepeated || seen.insert(JSONName(name)).inserted { names.append(name) }
            index = after(index + 1)
        }
        return names
    }
}
