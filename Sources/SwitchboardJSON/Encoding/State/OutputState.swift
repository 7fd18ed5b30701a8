/// The text of one writer and its open values.
///
/// It is behind a pointer, because each access to a stored property of a class is checked for exclusivity. No method
/// calls a value's `encode(to:)`, because that may change this state.
struct OutputState {
    var bytes: OutputBytes
    /// The value that is being written.
    var top: OutputFrame
    /// The values around ``top``, the outermost first.
    var frames: OutputStack<OutputFrame>
    var members: OutputStack<OutputMember>
    /// The keys of the open values that have one.
    var keys: [any CodingKey] = []
    /// The texts of other writers and their offsets in this text, in ascending order.
    var insertions: [(position: Int, writer: OutputWriter)] = []
    /// The writers to which values of this one were moved, by serial.
    var moved: [UInt32: OutputWriter] = [:]
    /// The members' indices by name, for objects with many members.
    var nameIndexes: [UInt32: [String: Int]] = [:]
    /// The number of single-value containers that are writing a value.
    var singles = 0
    /// The stack that the `encode(to:)` of nested values may use.
    var stack = StackSpace()
    /// The depth of the outermost frame. The top-level value has depth 0.
    let baseDepth: Int
    let layout: OutputSettings.Layout
    let escapesSlashes: Bool
    let sortsNames: Bool
    var lastSerial: UInt32 = 0

    init(kind: OutputFrame.Kind, depth: Int, capacity: Int, settings: OutputSettings) {
        bytes = OutputBytes(capacity: capacity)
        frames = OutputStack(capacity: capacity / 64)
        members = OutputStack(capacity: capacity / 32)
        top = OutputFrame(serial: 0, start: 0, lastStart: 0, firstMember: 0)
        baseDepth = depth
        layout = settings.layout
        escapesSlashes = settings.escapesSlashes
        sortsNames = settings.sortsNames
        if kind == .scalar { top.kind = .scalar } else if kind != .empty { _ = open(kind, serial: 0) }
    }

    func deallocate() {
        bytes.deallocate()
        frames.deallocate()
        members.deallocate()
    }

    var depth: Int { baseDepth &+ frames.count }

    /// Begins a value at the end of the text and returns its serial.
    @inline(__always)
    mutating func push(_ key: () -> (any CodingKey)?) -> UInt32 {
        var hasKey = false
        if top.kind == .object, let key = key() {
            keys.append(key)
            hasKey = true
        }
        frames.append(top)
        lastSerial &+= 1
        let end = bytes.count
        top = OutputFrame(serial: lastSerial, hasKey: hasKey, start: end, lastStart: end, firstMember: members.count)
        return lastSerial
    }

    /// Ends the value begun last.
    @inline(__always)
    mutating func pop() {
        close()
        if top.hasKey { keys.removeLast() }
        if let outer = frames.popLast() { top = outer }
    }

    /// Discards the values begun since the stack had `count` frames.
    mutating func unwind(to count: Int) {
        while frames.count > count {
            members.keep(top.firstMember)
            if top.hasKey { keys.removeLast() }
            nameIndexes[top.serial] = nil
            if let outer = frames.popLast() { top = outer }
        }
    }

    /// Removes the last member or element of a value.
    mutating func rollBack(_ serial: UInt32) {
        guard top.serial == serial, top.count > 0 else { return }
        if top.kind == .object { removeLastMember() }
        bytes.count = top.lastStart
        top.count -= 1
        let kept = insertions.lastIndex { $0.position <= top.lastStart } ?? -1
        insertions.removeLast(insertions.count - 1 - kept)
    }

    /// Opens the value as an object or array and removes text of another kind. False when it is not open as this kind.
    mutating func open(_ kind: OutputFrame.Kind, serial: UInt32) -> Bool {
        guard top.serial == serial else { return frames.elements.contains { $0.serial == serial && $0.kind == kind } }
        guard top.kind != kind else { return true }
        reset()
        top.kind = kind
        bytes.append(kind == .object ? UInt8(ascii: "{") : UInt8(ascii: "["))
        return true
    }

    /// Removes the value's earlier text for a single-value container. False when it is not the value begun last.
    @inline(__always)
    mutating func beginSingle(_ serial: UInt32) -> Bool {
        guard top.serial == serial else { return false }
        reset()
        return true
    }

    @inline(__always)
    private mutating func reset() {
        if top.kind != .empty { resetWritten() }
    }

    private mutating func resetWritten() {
        bytes.count = top.start
        members.keep(top.firstMember)
        insertions.removeAll { $0.position > top.start }
        nameIndexes[top.serial] = nil
        top.kind = .empty
        top.count = 0
        top.isDictionary = false
        top.hasRepeats = false
        top.nameBits = 0
    }

    /// Writes the separator of an element. False when the value is not the array begun last.
    @inline(__always)
    mutating func beginElement(in serial: UInt32) -> Bool {
        guard top.serial == serial, top.kind == .array else { return false }
        beginEntry()
        return true
    }

    /// Writes the separator of a member and its name. False when the value is not the object begun last.
    @inline(__always)
    mutating func beginMember(_ name: String, in serial: UInt32, isUnique: Bool = false) -> Bool {
        guard top.serial == serial, top.kind == .object else { return false }
        beginEntry()
        let start = bytes.count &+ 1
        let found = bytes.appendName(name, escapesSlashes: escapesSlashes)
        var member = OutputMember(
            nameStart: start, nameLength: Int32(truncatingIfNeeded: bytes.count &- start &- 1), name: found)
        if layout == .foundation { bytes.append(UInt8(ascii: " ")) }
        bytes.append(UInt8(ascii: ":"))
        if layout != .dense { bytes.append(UInt8(ascii: " ")) }
        if !isUnique, let repeated = lastMember(like: member) {
            member.repeated = Int32(truncatingIfNeeded: repeated)
            top.hasRepeats = true
        }
        members.append(member)
        return true
    }

    @inline(__always)
    private mutating func beginEntry() {
        top.lastStart = bytes.count
        if top.count > 0 { bytes.append(UInt8(ascii: ",")) }
        top.count &+= 1
        if layout != .dense { bytes.appendLine(depth: depth + 1) }
    }

    /// Writes the end of the value begun last.
    @inline(__always)
    private mutating func close() {
        switch top.kind {
        case .scalar: return
        case .object:
            if sortsNames || top.isDictionary || top.hasRepeats { arrangeMembers() }
            if members.count &- top.firstMember > Self.manyMembers { nameIndexes[top.serial] = nil }
            members.keep(top.firstMember)
            closeBracket(UInt8(ascii: "}"))
        case .array: closeBracket(UInt8(ascii: "]"))
        case .empty:
            bytes.append(UInt8(ascii: "{"))
            closeBracket(UInt8(ascii: "}"))
        }
    }

    /// Writes the end of the outermost value.
    mutating func closeOutermost() {
        close()
        top.kind = .scalar
    }

    @inline(__always)
    private mutating func closeBracket(_ bracket: UInt8) {
        if layout != .dense { closeLine() }
        bytes.append(bracket)
    }

    private mutating func closeLine() {
        if top.count == 0 {
            guard layout == .foundation else { return }
            bytes.append(UInt8(ascii: "\n"))
        }
        bytes.appendLine(depth: depth)
    }
}

/// A value that is being written.
struct OutputFrame {
    enum Kind: UInt8 { case empty, scalar, object, array }

    /// The frame's number, unique in its writer. A container refers to its frame by it.
    var serial: UInt32
    var kind = Kind.empty
    /// Whether the value is a dictionary, whose members are sorted when it is closed.
    var isDictionary = false
    /// Whether a name occurs in the object twice.
    var hasRepeats = false
    /// Whether the value is a nested container or super encoder, open until an enclosing value is written to.
    var isNested = false
    /// Whether the writer stores a key for the value. The elements of an array have none.
    var hasKey = false
    /// The offset of the value's text.
    var start: Int
    /// The offset of the last member's separator. When that member cannot be encoded, the text from here on is removed.
    var lastStart: Int
    /// The index of the object's first member in ``OutputState/members``.
    var firstMember: Int
    var count = 0
    /// The set of the highest six bits of the hashes of the names.
    var nameBits: UInt64 = 0
}

/// A member of an object that is being written.
struct OutputMember {
    /// The offset of the name, after the quotation mark.
    var nameStart: Int
    var nameLength: Int32
    /// The index of the previous member with the same name in the same object, or -1.
    var repeated: Int32 = -1
    var name: OutputName

    var nameRange: Range<Int> { nameStart..<nameStart + Int(nameLength) }
}

/// A stack of trivial values: one allocation without the checks of an array. The owner frees it.
struct OutputStack<Element: BitwiseCopyable> {
    private var base: UnsafeMutablePointer<Element>
    private var capacity: Int
    private(set) var count = 0

    init(capacity: Int) {
        self.capacity = max(capacity, 4)
        base = .allocate(capacity: self.capacity)
    }

    func deallocate() {
        base.deallocate()
    }

    var elements: UnsafeMutableBufferPointer<Element> { UnsafeMutableBufferPointer(start: base, count: count) }

    @inline(__always)
    mutating func append(_ element: Element) {
        if count == capacity { grow() }
        (base + count).initialize(to: element)
        count &+= 1
    }

    /// Removes all elements after the first `count`.
    @inline(__always)
    mutating func keep(_ count: Int) {
        if count >= 0, count < self.count { self.count = count }
    }

    @inline(__always)
    mutating func popLast() -> Element? {
        guard count > 0 else { return nil }
        count &-= 1
        return base[count]
    }

    @inline(never)
    private mutating func grow() {
        let wider = UnsafeMutablePointer<Element>.allocate(capacity: capacity * 2)
        wider.update(from: base, count: count)
        base.deallocate()
        base = wider
        capacity *= 2
    }
}
