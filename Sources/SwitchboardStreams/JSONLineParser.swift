import Foundation
import Switchboard
import SwitchboardText

/// Parses lines with one JSON text each into values.
struct JSONLineParser<Value, Cursor: Sendable>: StreamParser {
    private let decode: (Data) throws -> Value
    private let cursor: (Value) -> Cursor?
    private var lines: LineScanner
    private var number = 0
    /// The cursor of the last value that had one.
    private(set) var position: Cursor?
    let retry: Duration? = nil
    let mediaType: String? = nil

    /// Creates a parser.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of bytes of a line.
    ///   - position: The cursor of the previous connection.
    ///   - cursor: Returns the cursor of a value.
    ///   - decode: Decodes a line.
    init(
        limit: Int, position: Cursor?, cursor: @escaping (Value) -> Cursor?,
        decode: @escaping (Data) throws -> Value
    ) {
        lines = LineScanner(limit: limit)
        self.position = position
        self.cursor = cursor
        self.decode = decode
    }

    mutating func restart() {
        lines = LineScanner(limit: lines.limit)
    }

    mutating func parse(_ chunk: Data?, _ body: (Value) -> Void) throws {
        var scanner = lines
        lines = LineScanner(limit: scanner.limit)  // keeps one owner of the bytes, to avoid a copy
        defer { lines = scanner }
        try scanner.scan(chunk) { line in
            number += 1
            guard !line.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) else { return }
            let data = Data(line)
            let value: Value
            do {
                value = try decode(data)
            } catch {
                let reason = DecodingFailure.describe(error, in: data, as: Value.self, called: "the line")
                throw NetworkError(.decodingFailed, reason: "line \(number): \(reason)", underlying: error)
            }
            if let cursor = cursor(value) { position = cursor }
            body(value)
        }
    }
}
