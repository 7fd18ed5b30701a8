/// One value or name on the tape, in 16 bytes.
struct JSONTapeEntry {
    enum Kind: UInt8 {
        case null, `false`, `true`, number, string, array, object
        /// A member's name. Its value is the next entry.
        case name
    }

    struct Flags: OptionSet {
        let rawValue: UInt8
        /// On a string or name: it has a backslash.
        static let escaped = Flags(rawValue: 1)
        /// On a number: it has a fraction or an exponent.
        static let fraction = Flags(rawValue: 1)
        /// On an object: a name has a backslash.
        static let escapedNames = Flags(rawValue: 1)
        /// On an object: names are converted, and repeated ones are found.
        static let prepared = Flags(rawValue: 2)
        /// On an object: a name occurs more than once.
        static let repeatedNames = Flags(rawValue: 4)
        /// On an object: `JSONDocument.indexes` has its names.
        static let indexed = Flags(rawValue: 8)
        /// On a name: its text is in `JSONDocument.converted`, at `next`.
        static let converted = Flags(rawValue: 2)
    }

    /// The first byte in the text: of a string or name the one after the quote.
    var offset: UInt32
    /// Bytes of a number, string or name; elements of an array. Of an object the tape index of the name expected next.
    var length: UInt32
    /// Of a container the tape index after its end; while it is parsed, its parent's index.
    var next: UInt32
    let kind: Kind
    var flags: Flags
    /// Members of an object, at most 65,535.
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
