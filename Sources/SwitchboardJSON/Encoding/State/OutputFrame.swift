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
