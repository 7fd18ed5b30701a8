/// Decodes the elements of one array while the chunks of its text arrive. The array is the top-level value or the value
/// at a path of names.
///
/// ```swift <!-- does not compile: the type is internal -->
/// var reader = JSONElementReader(
///     Film.self, decoder: decoder, at: ["page", "results"])
/// for try await chunk in chunks { try reader.read(chunk) { show($0) } }
/// try reader.finish()
/// ```
///
/// It buffers the incomplete element and the text around the array. Each element is checked once it is complete, and
/// ``finish()`` checks the text around the array. When an object on the path repeats a name, the first member counts.
package struct JSONElementReader<Element: Decodable> {
    /// The error for an element, or for the text around the array, of more bytes than the limit.
    package struct TooLarge: Error {}

    private enum Stage {
        /// Before the array.
        case outside
        /// In the array: after its bracket, after a comma, and after an element.
        case first, next, after
        /// In an element: a string, array or object; a number or literal, which ends before the next delimiter.
        case inside, scalar
        /// After the array.
        case rest
    }

    private let type: Element.Type
    private let decoder: FastJSONDecoder
    /// Decodes an element in place of `decoder`.
    private let decode: ((UnsafeRawBufferPointer) throws -> Element)?
    private let path: [String]
    private let limit: Int
    private var stage = Stage.outside
    /// The text without the elements.
    private var frame: [UInt8] = []
    private var element: [UInt8] = []
    private var count = 0
    private var position = JSONDocument.Position()
    private var elementPosition = JSONDocument.Position()
    /// The number of open containers, outside the array or in the element.
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    /// The number of open objects on the path, or -1 after the end of one of them.
    private var level = 0
    /// Whether the next value is on the path.
    private var isWanted = true
    /// Whether the next string of the object on the path is a name.
    private var expectsName = false
    /// The offset in `frame` of the name being read.
    private var nameStart: Int?
    private var name: String?

    /// Creates a reader of the array at a path of names. The empty path means the top-level value.
    ///
    /// - Parameters:
    ///   - type: The type of an element.
    ///   - decoder: Decodes the elements.
    ///   - decode: Decodes the elements in place of `decoder`, which then only checks the text around the array.
    ///   - path: The names that lead to the array.
    ///   - limit: The maximum number of bytes of an element, and of the text around the array.
    package init(
        _ type: Element.Type, decoder: FastJSONDecoder,
        decode: ((UnsafeRawBufferPointer) throws -> Element)? = nil, at path: [String] = [], limit: Int = .max
    ) {
        var decoder = decoder
        decoder.maximumDepth = max(0, decoder.maximumDepth) - path.count - 1
        self.type = type
        self.decoder = decoder
        self.decode = decode
        self.path = path
        self.limit = limit
    }

    /// Reads a chunk and calls the closure with each element that it completes.
    ///
    /// - Throws: `DecodingError`, ``TooLarge``, or the closure's error. The reader cannot be used after an error.
    package mutating func read(_ chunk: UnsafeRawBufferPointer, _ body: (Element) throws -> Void) throws {
        for byte in chunk {
            // A number or literal ends before the delimiter that follows it.
            if stage == .scalar, JSONElementReader.isEnd(byte) { try body(completeElement()) }
            switch stage {
            case .outside: try takeOutside(byte)
            case .first, .next, .after: try takeBetween(byte)
            case .scalar: element.append(byte)
            case .inside:
                element.append(byte)
                takeNested(byte)
                if depth == 0, !isInString { try body(completeElement()) }
            case .rest: frame.append(byte)
            }
            position.advance(over: byte)
        }
        guard max(element.count, frame.count) <= limit else { throw TooLarge() }
    }

    /// Ends the text.
    ///
    /// - Throws: `DecodingError` when the text is incomplete, invalid around the array, or has no array at the path.
    package func finish() throws {
        if stage == .rest || stage == .outside {
            var decoder = decoder
            decoder.maximumDepth += path.count + 1
            _ = try frame.withUnsafeBytes { try JSONDocument($0, decoder: decoder) }
        }
        if stage != .rest { throw failure("an array at the path \(path), found the end of the text") }
    }

    // MARK: - The array

    private mutating func takeBetween(_ byte: UInt8) throws {
        switch byte {
        case 0x20, 0x0A, 0x0D, 0x09: break
        case UInt8(ascii: "]") where stage != .next:
            frame.append(byte)
            stage = .rest
        case UInt8(ascii: ",") where stage == .after: stage = .next
        case UInt8(ascii: ","), UInt8(ascii: "]"): throw failure("a value, found '\(Character(Unicode.Scalar(byte)))'")
        default:
            guard stage != .after else { throw failure("',' or ']'") }
            element.append(byte)
            elementPosition = position
            (depth, isInString, isEscaped) = (0, false, false)
            takeNested(byte)
            stage = depth > 0 || isInString ? .inside : .scalar
        }
    }

    private mutating func completeElement() throws -> Element {
        guard element.count <= limit else { throw TooLarge() }
        let steps = path.map { JSONPathKey(stringValue: $0) } + [JSONPathKey(index: count)]
        let origin = JSONDocument.Origin(path: steps, position: elementPosition)
        stage = .after
        count += 1
        defer { element.removeAll(keepingCapacity: true) }
        return try element.withUnsafeBytes { bytes in
            guard let decode else {
                return try JSONDocument(bytes, decoder: decoder, origin: origin).decode(type)
            }
            do {
                return try decode(bytes)
            } catch let error as DecodingError {
                throw error.below(steps)
            }
        }
    }

    /// Tracks strings and brackets.
    private mutating func takeNested(_ byte: UInt8) {
        if isInString {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInString = false
            }
            return
        }
        switch byte {
        case UInt8(ascii: "\""): isInString = true
        case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
        case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
        default: break
        }
    }

    private static func isEnd(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "]")
    }

    // MARK: - Around the array

    /// Tracks the path to the array.
    private mutating func takeOutside(_ byte: UInt8) throws {
        let wasInString = isInString
        if isWanted, !wasInString, byte > 0x20, byte < 0x80 || frame.count > 2 {
            isWanted = false
            guard byte == UInt8(ascii: level == path.count ? "[" : "{") else {
                throw failure("an array at the path \(path)")
            }
            frame.append(byte)
            if level == path.count {
                stage = .first
            } else {
                level += 1
                depth += 1
                expectsName = true
            }
            return
        }
        frame.append(byte)
        takeNested(byte)
        if depth < level { level = -1 }
        guard depth == level else { return }
        switch byte {
        case UInt8(ascii: "\"") where isInString && !wasInString: nameStart = expectsName ? frame.count - 1 : nil
        case UInt8(ascii: "\"") where wasInString && !isInString:
            if let start = nameStart {
                name = try? frame[start...].withUnsafeBytes { try decoder.decode(String.self, from: $0) }
            }
            nameStart = nil
        case UInt8(ascii: ":") where !isInString:
            // Swift's == treats different code points as equal (RFC 8259 §8.3).
            isWanted = level > 0 && name?.utf8.elementsEqual(path[level - 1].utf8) == true
            expectsName = false
        case UInt8(ascii: ",") where !isInString: expectsName = true
        default: break
        }
    }

    private func failure(_ expected: String) -> DecodingError {
        let path = path.map { JSONPathKey(stringValue: $0) }
        return .dataCorrupted(.init(codingPath: path, debugDescription: "Expected \(expected) \(position.text)."))
    }
}

extension DecodingError {
    /// Returns the error of a value as that of the text that contains it at a path.
    fileprivate func below(_ path: [any CodingKey]) -> DecodingError {
        func moved(_ context: Context) -> Context {
            Context(
                codingPath: path + context.codingPath, debugDescription: context.debugDescription,
                underlyingError: context.underlyingError)
        }
        switch self {
        case .typeMismatch(let type, let context): return .typeMismatch(type, moved(context))
        case .valueNotFound(let type, let context): return .valueNotFound(type, moved(context))
        case .keyNotFound(let key, let context): return .keyNotFound(key, moved(context))
        case .dataCorrupted(let context): return .dataCorrupted(moved(context))
        @unknown default: return self
        }
    }
}
