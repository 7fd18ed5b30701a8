#if os(Linux)
import Foundation
import SwitchboardText

/// The lines of a head and their fields. Later heads share the fields of equal lines.
struct KnownHead: Sendable {
    /// The place of a line.
    struct Place {
        fileprivate var offset = 0
        fileprivate var index = 0
    }

    private let lines: [UInt8]
    /// A valid field for each line.
    private let fields: [HTTPHeader]

    /// Creates an empty head.
    init() {
        (lines, fields) = ([], [])
    }

    /// Creates a head that keeps up to 4 KiB of lines. Each line must have a valid field.
    init(_ lines: [UInt8], _ fields: [HTTPHeader]) {
        let isKept = lines.count <= 4_096
        (self.lines, self.fields) = isKept ? (lines, fields) : ([], [])
    }

    /// Returns the field at a place if its line has the same bytes, including the line end. Moves to the next place.
    func field(at place: inout Place, of line: UnsafeBufferPointer<UInt8>) -> HTTPHeader? {
        guard place.index < fields.count, let other = line.baseAddress else { return nil }
        let index = place.index
        place.index += 1
        return lines.withUnsafeBufferPointer { lines in
            guard let start = lines.baseAddress.map({ $0 + place.offset }) else { return nil }
            let rest = UnsafeBufferPointer(start: start, count: lines.count - place.offset)
            if line.count <= rest.count, memcmp(start, other, line.count) == 0 {
                place.offset += line.count
                return fields[index]
            }
            place.offset += rest.firstPlace(of: .lineFeed).map { $0 + 1 } ?? rest.count
            return nil
        }
    }
}
#endif
