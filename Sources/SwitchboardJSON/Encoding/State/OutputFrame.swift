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
    /// The number of members or elements.
    var count = 0
}

/// A member of an object that is being written.
struct OutputMember {
    /// The offset of the name, after the quotation mark.
    var nameStart: Int
    var nameLength: Int32
    /// The index of the first member with the same name in the same object, or -1.
    var repeated: Int32 = -1
    var name: OutputName

    var nameRange: Range<Int> { nameStart..<nameStart + Int(nameLength) }
}
