import Foundation

/// A parsed text: its bytes, its tape and the functions that decode from them.
///
/// Each decode creates one document, which all its decoders and containers share.
final class JSONDocument {
    /// The tape index of the top-level value.
    static let root = 1
    /// The largest text, in bytes. Offsets have 32 bits.
    static let maximumSize = Int(clamping: UInt32.max - 64)

    /// The coding path and position of this text in an enclosing one.
    struct Origin {
        var path: [any CodingKey] = []
        var position = Position()
    }

    let decoder: FastJSONDecoder
    let origin: Origin
    let bytes: UnsafePointer<UInt8>
    let size: Int
    let tape: UnsafeMutablePointer<JSONTapeEntry>
    /// Unescaped names and names after the key strategy: four bytes of length, then the name. Tape entries point here.
    var converted: [UInt8] = []
    /// The indexes of large objects, by tape index. Each maps the hashes of names to the tape indices of values.
    var indexes: [Int: [Int: Int]] = [:]
    /// The hash table of the search for repeated names, with at least two slots per name. Its size is a power of two.
    let nameSlots: UnsafeMutableBufferPointer<UInt64>
    /// The number of searches so far. Slots with another number are empty.
    var nameSlotUses: UInt64 = 0
    /// The last coding path, where the next search resumes, so that many errors in one text take linear time.
    var pathSteps: [PathStep] = []
    /// The last position, where the next count of lines resumes.
    var lastPosition = Position()

    /// Copies and parses a text.
    init(_ source: UnsafeRawBufferPointer, decoder: FastJSONDecoder, origin: Origin = Origin()) throws {
        guard source.count <= JSONDocument.maximumSize else {
            let text = "The JSON text has \(source.count) bytes; at most \(JSONDocument.maximumSize) can be decoded."
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: text))
        }
        size = source.count
        let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: size + 16)
        UnsafeMutableRawBufferPointer(start: copy, count: size).copyMemory(from: source)
        (copy + size).initialize(repeating: 0, count: 16)
        bytes = UnsafePointer(copy)
        self.decoder = decoder
        self.origin = origin
        var parser = JSONParser(bytes, count: size, maximumDepth: decoder.maximumDepth)
        let outcome = Result { try parser.run() }
        tape = parser.tape
        nameSlots = .allocate(capacity: JSONDocument.slotCount(forNames: parser.mostMembers))
        nameSlots.initialize(repeating: 0)
        if case .failure(let error) = outcome { throw syntaxError(error, in: parser) }
    }

    deinit {
        bytes.deallocate()
        tape.deallocate()
        nameSlots.deallocate()
    }

    /// Returns the tape index after a value.
    @inline(__always)
    func after(_ index: Int) -> Int {
        let entry = tape + index
        return entry.pointee.kind.rawValue >= JSONTapeEntry.Kind.array.rawValue ? Int(entry.pointee.next) : index + 1
    }

    /// Returns the bytes of a number, string or name in the text, with escapes.
    @inline(__always)
    func text(of index: Int) -> UnsafeBufferPointer<UInt8> {
        let entry = tape + index
        return UnsafeBufferPointer(start: bytes + Int(entry.pointee.offset), count: Int(entry.pointee.length))
    }
}
