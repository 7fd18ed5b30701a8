import Foundation

/// The bytes of every large body: a block of random bytes, repeated. Its length is prime, so that a lost or repeated
/// chunk shows.
enum Pattern {
    static let period = 65_521

    /// The bytes from the start, several periods long.
    static let bytes: [UInt8] = {
        var random = SeededGenerator(7, 7)
        let block = (0..<period).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        return Array(repeatElement(block, count: 17).joined())
    }()

    /// Returns the range of `bytes` that holds the body's bytes from a position.
    static func run(at position: Int) -> Range<Int> { position % period..<bytes.count }

    /// Returns a part of the body.
    static func data(at position: Int, count: Int) -> Data {
        let start = position % period
        return Data(bytes[start..<min(start + count, bytes.count)])
    }

    /// Returns whether `data` equals the body's bytes from a position.
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

    /// Returns the sum of the first `count` bytes, as the server reports it for an upload.
    static func sum(_ count: Int) -> Int {
        let block = bytes[..<period].reduce(0) { $0 + Int($1) }
        return count / period * block + bytes[..<(count % period)].reduce(0) { $0 + Int($1) }
    }
}
