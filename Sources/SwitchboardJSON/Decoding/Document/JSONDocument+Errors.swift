import Foundation

extension JSONDocument {
    /// A position in the text. Lines and columns count from 1, and a column is one Unicode scalar.
    struct Position {
        var offset = 0
        var line = 1
        var column = 1

        /// "at line 3, column 7 (byte 42)". Bytes count from 0.
        var text: String { "at line \(line), column \(column) (byte \(offset))" }

        @inline(__always)
        mutating func advance(over byte: UInt8) {
            offset += 1
            if byte == 0x0A {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
        }
    }

    private static let positionStep = 256

    func position(at offset: Int) -> Position {
        let (errors, step) = (errors, JSONDocument.positionStep)
        while errors.positions.count <= offset / step {
            let next = errors.positions.last.map { position(at: $0.offset + step, after: $0) }
            errors.positions.append(next ?? Position())
        }
        return position(at: offset, after: errors.positions[offset / step])
    }

    private func position(at offset: Int, after position: Position) -> Position {
        var position = position
        while position.offset < offset { position.advance(over: bytes[position.offset]) }
        return position
    }

    /// Returns the position in the enclosing text when this text is an element of another one.
    func wholePosition(at offset: Int) -> Position {
        let (position, origin) = (position(at: offset), origin.position)
        return Position(
            offset: origin.offset + offset, line: origin.line - 1 + position.line,
            column: position.line == 1 ? origin.column - 1 + position.column : position.column)
    }

    private func context(_ text: String, at index: Int) -> DecodingError.Context {
        // A string's entry stores the offset after the quote.
        let offset = Int(tape[index].offset) - (tape[index].kind == .string ? 1 : 0)
        return DecodingError.Context(
            codingPath: path(to: index), debugDescription: "\(text), \(wholePosition(at: offset).text).")
    }

    /// Returns the name of a value's kind as `JSONDecoder` writes it, such as "a string".
    private func kindText(of index: Int) -> String {
        switch tape[index].kind {
        case .null: "null"
        case .false, .true: "bool"
        case .number: "number"
        case .string: "a string"
        case .array: "an array"
        case .object, .name: "a dictionary"
        }
    }

    /// Returns the error for a value of another kind, including null.
    @inline(never)
    func mismatch(_ type: any Any.Type, at index: Int) -> DecodingError {
        if tape[index].kind == .null {
            return .valueNotFound(
                type, context("Cannot get value of type \(type) -- found null value instead", at: index))
        }
        return .typeMismatch(
            type, context("Expected to decode \(type) but found \(kindText(of: index)) instead", at: index))
    }

    /// Returns the error for a null, which Foundation treats as any other kind when the type is `Bool`.
    @inline(never)
    func nullBool(at index: Int) -> DecodingError {
        .typeMismatch(Bool.self, context("Expected to decode Bool but found null instead", at: index))
    }

    /// Returns the error for a value of the right kind with invalid contents.
    @inline(never)
    func corrupted(_ text: String, at index: Int) -> DecodingError {
        .dataCorrupted(context(text, at: index))
    }

    @inline(never)
    func missing(_ key: some CodingKey, in object: Int) -> DecodingError {
        .keyNotFound(
            key, context("No value associated with key \(key) (\"\(key.stringValue)\") in the object", at: object))
    }

    @inline(never)
    func endOfArray(_ type: any Any.Type, _ array: Int, count: Int) -> DecodingError {
        let path = path(to: array) + [JSONPathKey(index: count)]
        let text = "Unkeyed container is at end, in the array \(wholePosition(at: Int(tape[array].offset)).text)."
        return .valueNotFound(type, .init(codingPath: path, debugDescription: text))
    }

    func syntaxError(_ error: any Error, in parser: JSONParser) -> any Error {
        guard let failure = error as? JSONParser.Failure else { return error }
        let text =
            "Expected \(failure.expected), found \(found(failure.offset)) \(wholePosition(at: failure.offset).text)."
        return DecodingError.dataCorrupted(
            .init(
                codingPath: openPath(in: parser), debugDescription: "The given data was not valid JSON. \(text)",
                underlyingError: NSError(
                    domain: NSCocoaErrorDomain, code: CocoaError.Code.propertyListReadCorrupt.rawValue,
                    userInfo: [NSDebugDescriptionErrorKey: text])))
    }

    private func found(_ offset: Int) -> String {
        let byte = bytes[offset]
        if offset >= size { return "the end of the text" }
        if byte < 0x20 || byte == 0x7F { return "control character \(hexadecimal(byte))" }
        if byte < 0x80 { return "'\(Character(Unicode.Scalar(byte)))'" }
        let length = UTF8Sequence.length(bytes + offset)
        guard length > 0 else { return "byte \(hexadecimal(byte))" }
        return "'\(String(decoding: UnsafeBufferPointer(start: bytes + offset, count: length), as: UTF8.self))'"
    }

    private func hexadecimal(_ byte: UInt8) -> String {
        "0x\(byte < 16 ? "0" : "")\(String(byte, radix: 16, uppercase: true))"
    }
}
