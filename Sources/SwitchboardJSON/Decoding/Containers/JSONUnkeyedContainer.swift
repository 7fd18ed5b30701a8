/// The elements of an array, in order.
struct JSONUnkeyedContainer: UnkeyedDecodingContainer {
    let document: JSONDocument
    private let index: UInt32
    /// The tape index of the next element.
    private var nextEntry: UInt32
    private var ordinal: UInt32 = 0

    init(document: JSONDocument, index: Int) throws {
        guard document.tape[index].kind == .array else { throw document.mismatch([Any].self, at: index) }
        try document.checkStack(at: index)
        self.document = document
        self.index = UInt32(truncatingIfNeeded: index)
        nextEntry = UInt32(truncatingIfNeeded: index + 1)
    }

    var codingPath: [any CodingKey] { document.path(to: Int(index)) }
    var count: Int? { Int(document.tape[Int(index)].length) }
    var currentIndex: Int { Int(ordinal) }
    var isAtEnd: Bool { ordinal == document.tape[Int(index)].length }

    /// Reads the next element and moves past it. After an error the container stays at the element.
    @inline(__always)
    mutating func next<Value>(_ type: Value.Type, _ read: (JSONDocument, Int) throws -> Value) throws -> Value {
        if isAtEnd { throw document.endOfArray(type, Int(index), count: currentIndex) }
        let value = try read(document, Int(nextEntry))
        nextEntry = UInt32(truncatingIfNeeded: document.after(Int(nextEntry)))
        ordinal &+= 1
        return value
    }

    mutating func decodeNil() throws -> Bool {
        if isAtEnd { throw document.endOfArray(Any?.self, Int(index), count: currentIndex) }
        guard document.tape[Int(nextEntry)].kind == .null else { return false }
        return try next(Any?.self) { _, _ in nil } == nil
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try next(KeyedDecodingContainer<Nested>.self) {
            try $0.container(type, at: $1)
        }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next((any UnkeyedDecodingContainer).self) { try JSONUnkeyedContainer(document: $0, index: $1) }
    }

    mutating func superDecoder() throws -> any Decoder {
        try next((any Decoder).self) { JSONValueDecoder(document: $0, index: $1) }
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try next(type) { try $0.value(type, at: $1) }
    }

    mutating func decodeIfPresent<Value: Decodable>(_ type: Value.Type) throws -> Value? {
        if try isAtEnd || decodeNil() { return nil }
        return try decode(type)
    }
}

extension JSONUnkeyedContainer {
    mutating func decode(_ type: Bool.Type) throws -> Bool {
        try next(type) { try $0.bool(at: $1) }
    }

    mutating func decode(_ type: String.Type) throws -> String {
        try next(type) { try $0.string(at: $1) }
    }

    mutating func decode(_ type: Double.Type) throws -> Double {
        try next(type) { try $0.double(at: $1) }
    }

    mutating func decode(_ type: Float.Type) throws -> Float {
        try next(type) { try $0.float(at: $1) }
    }

    @inline(__always)
    mutating func decode<Value: FixedWidthInteger & Decodable>(_ type: Value.Type) throws -> Value {
        try next(type) { try $0.integer(type, at: $1) }
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    mutating func decode(_ type: Int128.Type) throws -> Int128 {
        try next(type) { try $0.longInteger(type, at: $1) }
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 {
        try next(type) { try $0.longInteger(type, at: $1) }
    }
}
