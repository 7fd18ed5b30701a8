import Foundation

/// A parsed text: its bytes, its tape, and how to decode from them.
///
/// One decode makes one document. The decoders and containers of that decode share it.
final class JSONDocument {
    /// The tape index of the text's value.
    static let root = 1
    /// Offsets have 32 bits.
    static let maximumSize = Int(clamping: UInt32.max - 64)

    /// Where the text stands in a longer one.
    struct Origin {
        var path: [any CodingKey] = []
        var position = Position()
    }

    let decoder: FastJSONDecoder
    let origin: Origin
    let bytes: UnsafePointer<UInt8>
    let size: Int
    let tape: UnsafeMutablePointer<JSONTapeEntry>
    /// Names without escapes or after the key strategy: four bytes of length, then the name. Names on the tape point here.
    var converted: [UInt8] = []
    /// For objects that are large and not read in order: the names' tape indices by the names' hashes.
    var indexes: [Int: [Int: Int]] = [:]
    /// Scratch for the search for repeated names: two slots or more for each name of an object, and how often they
    /// were used. The number of slots is a power of two.
    let nameSlots: UnsafeMutableBufferPointer<UInt64>
    var nameSlotUses: UInt64 = 0
    /// Where the last coding path and the last position were, so that many errors in one text take linear time.
    var pathSteps: [PathStep] = []
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

    /// The tape index after a value.
    @inline(__always)
    func after(_ index: Int) -> Int {
        let entry = tape + index
        return entry.pointee.kind.rawValue >= JSONTapeEntry.Kind.array.rawValue ? Int(entry.pointee.next) : index + 1
    }

    /// The bytes of a number, a string or a name as the text has them.
    @inline(__always)
    func text(of index: Int) -> UnsafeBufferPointer<UInt8> {
        let entry = tape + index
        return UnsafeBufferPointer(start: bytes + Int(entry.pointee.offset), count: Int(entry.pointee.length))
    }
}
