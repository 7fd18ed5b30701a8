import Foundation

/// The bytes of every large body: a block of random ones again and again. Its length is a prime, so that a piece that
/// is lost or comes twice shows.
enum Pattern {
    static let period = 65_521

    /// The bytes from the start, a few periods of them.
    static let bytes: [UInt8] = {
        var random = Seeded(7, 7)
        let block = (0..<period).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        return Array(repeatElement(block, count: 17).joined())
    }()

    /// How many bytes stand in `bytes` in one piece from a position on.
    static func run(at position: Int) -> Range<Int> { position % period..<bytes.count }

    /// A piece of the body.
    static func data(at position: Int, count: Int) -> Data {
        let start = position % period
        return Data(bytes[start..<min(start + count, bytes.count)])
    }

    /// Whether these bytes are those from a position on.
    static func matches(_ data: Data, at position: Int) -> Bool {
        data.withUnsafeBytes { data in
            bytes.withUnsafeBytes { bytes in
                var done = 0
                while done < data.count, let start = data.baseAddress, let pattern = bytes.baseAddress {
                    let run = run(at: position + done)
                    let count = min(run.count, data.count - done)
                    guard memcmp(start + done, pattern + run.lowerBound, count) == 0 else { return false }
                    done += count
                }
                return true
            }
        }
    }

    /// The sum of the bytes from the start, as the server tells it of an upload.
    static func sum(_ count: Int) -> Int {
        let block = bytes[..<period].reduce(0) { $0 + Int($1) }
        return count / period * block + bytes[..<(count % period)].reduce(0) { $0 + Int($1) }
    }
}
