import Foundation
@testable import SwitchboardWebSocket

/// Returns the bytes of hexadecimal digits; blanks are left out.
func bytes(_ digits: String) -> Data {
    let digits = digits.filter { !$0.isWhitespace }
    var bytes = Data()
    var index = digits.startIndex
    while index < digits.endIndex {
        let next = digits.index(index, offsetBy: 2)
        bytes.append(UInt8(digits[index..<next], radix: 16)!)
        index = next
    }
    return bytes
}

extension MessageReader {
    /// Takes the next event from the front of the bytes.
    mutating func next(_ bytes: inout Data) throws(WebSocketViolation) -> WebSocketEvent? {
        let (event, left) = bytes.withUnsafeBytes { bytes in
            var rest = bytes
            let event = Result { () throws(WebSocketViolation) in try next(&rest) }
            return (event, rest.count)
        }
        bytes = Data(bytes.suffix(left))
        return try event.get()
    }
}

extension MessageInflater {
    /// Returns the content of a compressed message.
    func content(of packed: Data) throws -> Data {
        var content = Data()
        try packed.withUnsafeBytes { bytes in try inflate(bytes) { content += $0 } }
        try endMessage { content += $0 }
        return content
    }
}

/// Returns the events of bytes that arrive in pieces of a size.
func events(
    _ bytes: Data, by size: Int = .max, _ reader: MessageReader = MessageReader(limit: 1 << 20)
) throws -> [WebSocketEvent] {
    var (reader, rest, events) = (reader, bytes, [WebSocketEvent]())
    while !rest.isEmpty {
        var piece = Data(rest.prefix(size))
        rest = rest.dropFirst(piece.count)
        while let event = try reader.next(&piece) { events.append(event) }
    }
    return events
}

/// Returns the close code of the violation that bytes cause, or nil if they cause none.
func violation(of bytes: Data, by size: Int = .max, limit: Int = 1 << 20) -> UInt16? {
    do {
        _ = try events(bytes, by: size, MessageReader(limit: limit))
        return nil
    } catch {
        return (error as? WebSocketViolation)?.code.rawValue ?? 0
    }
}
