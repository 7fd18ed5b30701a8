import Foundation

extension OutputState {
    /// The largest number of members of an object without an index of names.
    static var manyMembers: Int { 64 }

    /// Returns the index of the last member with the name of `member`, which is not yet in the open object.
    @inline(__always)
    mutating func lastMember(like member: OutputMember) -> Int? {
        guard members.count &- top.firstMember <= Self.manyMembers else { return indexedMember(like: member) }
        let hash = member.name.hash
        let bit: UInt64 = 1 &<< UInt64(hash &>> 25)
        if top.nameBits & bit == 0 {
            top.nameBits |= bit
            return nil
        }
        let members = members.elements
        var index = members.count
        while index > top.firstMember {
            index &-= 1
            if members[index].name.hash == hash, hasSameName(members[index], member) { return index }
        }
        return nil
    }

    /// Returns whether two names are equal as Swift compares strings: canonically equivalent names are equal.
    private func hasSameName(_ one: OutputMember, _ other: OutputMember) -> Bool {
        guard one.name.isPlain, other.name.isPlain else {
            return one.name.isPlain == other.name.isPlain
                && bytes.name(in: one.nameRange) == bytes.name(in: other.nameRange)
        }
        return one.nameLength == other.nameLength
            && memcmp(bytes.base + one.nameStart, bytes.base + other.nameStart, Int(one.nameLength)) == 0
    }

    @inline(never)
    private mutating func indexedMember(like member: OutputMember) -> Int? {
        var index = nameIndexes.removeValue(forKey: top.serial) ?? [:]
        if index.isEmpty {
            for position in top.firstMember..<members.count {
                index[bytes.name(in: members.elements[position].nameRange)] = position
            }
        }
        let name = bytes.name(in: member.nameRange)
        let found = index.updateValue(members.count, forKey: name)
        nameIndexes[top.serial] = index
        return found
    }

    mutating func removeLastMember() {
        guard let member = members.elements.last else { return }
        if var index = nameIndexes.removeValue(forKey: top.serial) {
            index[bytes.name(in: member.nameRange)] = member.repeated < 0 ? nil : Int(member.repeated)
            nameIndexes[top.serial] = index
        }
        members.keep(members.count - 1)
    }

    /// The number of bytes between a name's quotation mark and the value.
    var colonWidth: Int { layout == .dense ? 1 : layout == .python ? 2 : 3 }

    /// The number of bytes between two members of the open object: a comma, a line break and the indentation.
    private var separatorWidth: Int { layout == .dense ? 1 : 2 + 2 * (depth + 1) }

    /// Returns the text range of a member's value, which is not the last member of the open object.
    func value(ofMember index: Int) -> Range<Int> {
        let start = members.elements[index].nameRange.upperBound + 1 + colonWidth
        return start..<members.elements[index + 1].nameStart - 1 - separatorWidth
    }

    /// Returns the writer of a member's value, or nil when the value is not in a separate writer.
    func writer(ofMember index: Int) -> OutputWriter? {
        let position = members.elements[index].nameRange.upperBound + 1 + colonWidth
        let insertion = insertions[...].fromFirst(after: position - 1).first
        return insertion?.position == position ? insertion?.writer : nil
    }

    /// Rewrites the members of the open object: removes repeated names, and sorts if required.
    ///
    /// The last value of a repeated name replaces the first, at the position of the first.
    mutating func arrangeMembers() {
        let all = members.elements[top.firstMember...]
        guard let first = all.first else { return }
        // The text range of each member, with its name and value.
        var pieces: [(member: OutputMember, range: Range<Int>)] = []
        pieces.reserveCapacity(all.count)
        for (index, member) in zip(all.indices, all) {
            let isLast = index == all.endIndex - 1
            let end = isLast ? bytes.count : all[index + 1].nameStart - 1 - separatorWidth
            pieces.append((member, member.nameStart - 1..<end))
        }
        if top.hasRepeats { pieces = withoutRepeats(pieces) }
        let isSorted = (sortsNames || top.isDictionary) ? sort(&pieces) : false
        guard isSorted || top.hasRepeats else { return }

        let start = first.nameStart - 1
        let old = Array(UnsafeBufferPointer(start: bytes.base + start, count: bytes.count - start))
        let firstInsertion = insertions[...].fromFirst(after: top.start).startIndex
        let oldInsertions = insertions[firstInsertion...]
        insertions.removeSubrange(firstInsertion...)
        bytes.count = start
        for (index, piece) in pieces.enumerated() {
            if index > 0 {
                bytes.append(UInt8(ascii: ","))
                if layout != .dense { bytes.appendLine(depth: depth + 1) }
            }
            let shift = bytes.count - piece.range.lowerBound
            old.withUnsafeBufferPointer { old in
                bytes.append(
                    UnsafeBufferPointer(rebasing: old[piece.range.lowerBound - start..<piece.range.upperBound - start]))
            }
            for insertion in oldInsertions.fromFirst(after: piece.range.lowerBound) {
                guard insertion.position <= piece.range.upperBound else { break }
                insertions.append((insertion.position + shift, insertion.writer))
            }
        }
    }

    private func withoutRepeats(
        _ pieces: [(member: OutputMember, range: Range<Int>)]
    ) -> [(member: OutputMember, range: Range<Int>)] {
        // The index of the first member with the name of each member.
        var first: [Int] = []
        var last: [Int: Int] = [:]
        for (index, piece) in pieces.enumerated() {
            let previous = Int(piece.member.repeated) - top.firstMember
            first.append(piece.member.repeated < 0 ? index : first[previous])
            if piece.member.repeated >= 0 { last[first[index]] = index }
        }
        return pieces.enumerated().compactMap { index, piece in
            piece.member.repeated >= 0 ? nil : last[index].map { pieces[$0] } ?? piece
        }
    }

    /// Sorts by the UTF-8 of names, or for dictionaries in the order of `String`. False when already sorted.
    private func sort(_ pieces: inout [(member: OutputMember, range: Range<Int>)]) -> Bool {
        if pieces.allSatisfy(\.member.name.isPlain) {
            let isBefore = { (one: OutputMember, other: OutputMember) -> Bool in
                let order = memcmp(
                    bytes.base + one.nameStart, bytes.base + other.nameStart, Int(min(one.nameLength, other.nameLength))
                )
                return order == 0 ? one.nameLength < other.nameLength : order < 0
            }
            guard !zip(pieces, pieces.dropFirst()).allSatisfy({ isBefore($0.member, $1.member) }) else { return false }
            pieces.sort { isBefore($0.member, $1.member) }
            return true
        }
        var names: [(name: String, index: Int)] = []
        for piece in pieces { names.append((bytes.name(in: piece.member.nameRange), names.count)) }
        OutputSettings.sort(&names, byUTF8: sortsNames)
        pieces = names.map { pieces[$0.index] }
        return true
    }
}

extension ArraySlice<(position: Int, writer: OutputWriter)> {
    /// Returns the entries after a position. The entries are sorted by position.
    func fromFirst(after position: Int) -> Self {
        var low = startIndex
        var high = endIndex
        while low < high {
            let middle = low + (high - low) / 2
            if self[middle].position > position { high = middle } else { low = middle + 1 }
        }
        return self[low...]
    }
}

extension OutputState {
    /// Writes the members or elements of an earlier value into the open object or array, which replaces it. Writes
    /// nothing when the earlier value is of another kind.
    mutating func repeatValue(_ range: Range<Int>) {
        let text = Array(UnsafeBufferPointer(rebasing: bytes.buffer[range]))
        let isObject = top.kind == .object
        guard text.first == (isObject ? UInt8(ascii: "{") : UInt8(ascii: "[")) else { return }
        let serial = top.serial
        // The value may contain the texts of other writers. An element that is one has no bytes here.
        var inserted = Array(
            insertions[...].fromFirst(after: range.lowerBound).prefix { $0.position < range.upperBound })[...]
        for part in Self.parts(of: text) {
            var value = part
            if isObject {
                let end = Self.endOfName(in: text, part.lowerBound)
                let start = range.lowerBound + part.lowerBound
                let name = bytes.name(in: start + 1..<range.lowerBound + end)
                _ = beginMember(name, in: serial)
                let valueStart = end + 1 + colonWidth
                value = valueStart..<max(valueStart, part.upperBound)
            } else {
                if part.isEmpty, let first = inserted.first {
                    let start = first.position - range.lowerBound
                    value = start..<start
                }
                guard !value.isEmpty || !inserted.isEmpty else { continue }
                _ = beginElement(in: serial)
            }
            let shift = bytes.count - range.lowerBound - value.lowerBound
            text.withUnsafeBufferPointer { bytes.append(UnsafeBufferPointer(rebasing: $0[value])) }
            while let insertion = inserted.first, insertion.position - range.lowerBound <= value.upperBound {
                insertions.append((insertion.position + shift, insertion.writer))
                inserted.removeFirst()
            }
        }
    }

    /// Returns the ranges of the members or elements of an object or array, without the white space around them.
    private static func parts(of text: [UInt8]) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var (start, depth, index) = (1, 0, 0)
        func end(at end: Int) {
            var (first, last) = (start, end)
            while first < last, text[first] <= 0x20 { first += 1 }
            while first < last, text[last - 1] <= 0x20 { last -= 1 }
            parts.append(first..<last)
            start = end + 1
        }
        while index < text.count {
            switch text[index] {
            case UInt8(ascii: "\""): index = endOfName(in: text, index)
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ",") where depth == 1: end(at: index)
            default: break
            }
            index += 1
        }
        end(at: text.count - 1)
        // An object without members has one empty part.
        return text.first == UInt8(ascii: "{") && parts == [parts[0].lowerBound..<parts[0].lowerBound] ? [] : parts
    }

    /// Returns the index of the quotation mark that ends the string which begins at an index.
    private static func endOfName(in text: [UInt8], _ start: Int) -> Int {
        var index = start + 1
        while text[index] != UInt8(ascii: "\"") { index += text[index] == UInt8(ascii: "\\") ? 2 : 1 }
        return index
    }
}
