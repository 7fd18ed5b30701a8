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
    /// The stack that recursive types may use.
    @exclusivity(unchecked) private var stack = StackSpace()
    /// The types of the keys of the containers so far.
    @exclusivity(unchecked) var keyTypes = JSONKeyTypes()
    /// The learned orders of members, by the number of the object's types in `keyTypes`.
    @exclusivity(unchecked) var orders: [UnsafeMutablePointer<JSONMemberOrder>?] = []
    /// The types of the keyed containers, by the type of their keys.
    let containerTypes: TypeTable<any KeyedContainer.Type>
    /// The types of decoded arrays. Nil for a type that decodes itself from an array.
    let arrayTypes: TypeTable<(any DirectArray.Type)?>
    /// The state of errors and coding paths, once one was needed.
    private(set) var knownErrors: ErrorState?
    var errors: ErrorState {
        if let knownErrors { return knownErrors }
        let errors = ErrorState()
        knownErrors = errors
        return errors
    }

    /// The positions, paths and errors computed so far.
    final class ErrorState {
        /// The container and number of each tape entry, as far as a coding path was computed.
        var locations: [TapeLocation] = []
        /// The path of the container whose path was computed last.
        var lastPath: (container: Int, path: [any CodingKey])?
        /// The long names in coding paths, by tape index.
        var longNames: [Int: String] = [:]
        /// The positions at regular offsets, as far as one was computed, so that errors in any order take linear time.
        var positions: [Position] = []
        /// The error of a stack that was too small.
        var stack: DecodingError?
    }

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
        containerTypes = TypeTable()
        arrayTypes = TypeTable()
        if case .failure(let error) = outcome { throw syntaxError(error, in: parser) }
    }

    deinit {
        bytes.deallocate()
        tape.deallocate()
        nameSlots.deallocate()
        containerTypes.deallocate()
        arrayTypes.deallocate()
        for case let order? in orders {
            order.pointee.deallocate()
            order.deallocate()
        }
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try checkingStack { try value(type, at: JSONDocument.root) }
    }

    /// Decodes the top-level value with a closure.
    func decode<Value>(_ make: (JSONValueDecoder) throws -> Value) throws -> Value {
        try checkingStack { try make(JSONValueDecoder(document: self, index: JSONDocument.root)) }
    }

    /// Throws when the stack was too small for a part of the value, even if a type caught that error.
    private func checkingStack<Value>(_ decode: () throws -> Value) throws -> Value {
        do {
            let value = try decode()
            if let error = knownErrors?.stack { throw error }
            return value
        } catch {
            throw knownErrors?.stack ?? error
        }
    }

    /// Throws when the stack is too small for one more level of a recursive type.
    @inline(__always)
    func checkStack(at index: Int) throws {
        if !stack.hasSpace() { throw noStack(at: index) }
    }

    @inline(never)
    private func noStack(at index: Int) -> any Error {
        if let error = errors.stack { return error }
        let error = corrupted("The value is nested too deeply for the stack of this thread", at: index)
        errors.stack = error
        return error
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
