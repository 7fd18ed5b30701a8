/// One value or name on the tape, in 16 bytes.
struct JSONTapeEntry {
    enum Kind: UInt8 {
        case null, `false`, `true`, number, string, array, object
        /// A member's name. Its value is the next entry.
        case name
    }

    struct Flags: OptionSet {
        let rawValue: UInt8
        /// On a string or name: it contains a backslash.
        static let escaped = Flags(rawValue: 1)
        /// On a number: it has a fraction or an exponent.
        static let fraction = Flags(rawValue: 1)
        /// On an object: a name contains a backslash.
        static let escapedNames = Flags(rawValue: 1)
        /// On an object: its names are converted and checked for repetition.
        static let prepared = Flags(rawValue: 2)
        /// On an object: a name occurs more than once.
        static let repeatedNames = Flags(rawValue: 4)
        /// On an object: `JSONDocument.indexes` contains its names.
        static let indexed = Flags(rawValue: 8)
        /// On an object: the order of its members was learned.
        static let ordered = Flags(rawValue: 16)
        /// On a name: its text is in `JSONDocument.converted`, at `next`.
        static let converted = Flags(rawValue: 2)
    }

    /// The offset of the first byte in the text. For a string or name this is the byte after the quote.
    var offset: UInt32
    /// The bytes of a number, string or name, or the elements of an array. For an object, the tape index of the next
    /// expected name.
    var length: UInt32
    /// The tape index after the end of a container. During parsing it is the parent's index. For a converted name, the
    /// offset in `JSONDocument.converted`.
    var next: UInt32
    let kind: Kind
    var flags: Flags
    /// The number of members of an object, capped at 65,535. For the first name of an object, the number of its types
    /// of keys in `JSONDocument.keyTypes`.
    var members: UInt16

    @inline(__always)
    init(_ kind: Kind, offset: Int, length: Int = 0, next: UInt32 = 0, flags: Flags = []) {
        self.offset = UInt32(truncatingIfNeeded: offset)
        self.length = UInt32(truncatingIfNeeded: length)
        self.next = next
        self.kind = kind
        self.flags = flags
        members = 0
    }
}
