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
