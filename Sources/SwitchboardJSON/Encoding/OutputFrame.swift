/// A value that is being written.
struct OutputFrame {
    enum Kind: UInt8 { case empty, scalar, object, array }

    /// Tells the frame from all others of its writer; a container names its frame by it.
    var serial: UInt32
    var kind = Kind.empty
    /// Whether its members are sorted when it is closed, because it is a dictionary.
    var isDictionary = false
    /// Whether a name stands in it twice.
    var hasRepeats = false
    /// Whether it is a nested container or super encoder, which is open until something is written around it.
    var isNested = false
    /// Whether its key is one of the writer's keys; the elements of an array have none.
    var hasKey = false
    /// Where its text begins.
    var start: Int
    /// Where the text of its last member begins, with the separator: what is taken back when encoding that fails.
    var lastStart: Int
    /// Its first member among those of the writer.
    var firstMember: Int
    /// How many members or elements it has.
    var count = 0
}

/// A member of an object that is being written.
struct OutputMember {
    /// Where its name begins, after the quotation mark.
    var nameStart: Int
    var nameLength: Int32
    /// The member of the same object whose name it repeats, or -1.
    var repeated: Int32 = -1
    var name: OutputName

    var nameRange: Range<Int> { nameStart..<nameStart + Int(nameLength) }
}
