import Foundation
import Switchboard
import SwitchboardText

/// The head of a stored response's file: everything but the body.
///
/// A file consists of the body, padding, a checksum for each 64 KiB of these, the head, and a trailer of 32 bytes. The
/// trailer has the lengths of head and body, a magic number, and a checksum of the head and of these. Numbers are in
/// little-endian order, and all but the body begin at a multiple of eight. A file whose size differs from the lengths
/// is damaged. The body comes first, so the memory into which a file is read becomes the body without a copy.
final class CacheHead: Sendable {
    static let trailer = 32
    /// The largest head, in bytes.
    static let limit = 1 << 20
    /// The magic number. It changes with the format, and with the meaning of the stored ``CacheRules``.
    private static let magic: UInt64 = 0x3348_4341_4342_5753  // "SWBCACH3"

    let asked: String
    let partition: String
    let status: Int
    let headers: HTTPHeaders
    /// The URL that answered, if it is not the requested one.
    let url: String?
    let variant: String
    let date: Double
    let ageBefore: Double
    let tags: [String]
    let rules: CacheRules
    /// The position of the stored bytes of an incomplete response. Nil for a whole one.
    let part: CacheParts?
    let bodyCount: Int

    /// Returns the response with a body. Without one it still knows the size.
    func response(_ body: Data = Data(), _ file: CacheFile? = nil) -> StoredResponse {
        StoredResponse(self, body, file)
    }

    /// Returns whether the response is one of a key.
    func isOf(_ key: CacheKey) -> Bool { asked.hasBytes(of: key.url) && partition.hasBytes(of: key.partition) }

    // MARK: Writing

    /// Returns the bytes of a response's head.
    static func bytes(of response: StoredResponse, _ key: CacheKey) throws(NetworkError) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(1_024)
        func add(_ number: UInt64) { withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) } }
        func add(_ text: String) {
            add(UInt64(text.utf8.count))
            bytes.append(contentsOf: text.utf8)
        }
        func add(_ texts: [String]) {
            add(UInt64(texts.count))
            for text in texts { add(text) }
        }
        add(UInt64(truncatingIfNeeded: response.status))
        add(response.date.timeIntervalSince1970.bitPattern)
        add(response.ageBefore.bitPattern)
        for word in response.rules.words { add(word) }
        add(key.url)
        add(key.partition)
        add(try CacheVariant.hash(response.variant))
        add([response.url].compactMap { $0?.asCacheKey == key.url ? nil : $0?.absoluteString })
        add(response.tags.sorted())
        add(response.headers.flatMap { [$0.name, $0.value] })
        while bytes.count % 8 != 0 { bytes.append(0) }
        for number in response.part?.numbers ?? [] { add(UInt64(truncatingIfNeeded: number)) }
        return bytes
    }

    /// Returns the end of a file: the head and the trailer.
    static func end(_ head: [UInt8], bodyCount: Int, isLinked: Bool = false) -> [UInt8] {
        var bytes = head
        func add(_ number: UInt64) { withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) } }
        add(UInt64(head.count))
        add(UInt64(bodyCount) | (isLinked ? linked : 0))
        add(magic)
        add(bytes.withUnsafeBytes { CacheChecksum.of($0) })
        return bytes
    }

    // MARK: Reading

    /// The bit of the body's length that tells that the body is a ``CacheLink``. The file then has its stamp instead.
    private static let linked: UInt64 = 1 << 62

    /// The lengths of the parts of a file.
    struct Lengths {
        let head: Int
        let body: Int
        let isLinked: Bool

        /// The place of the checksums.
        var sumsStart: Int { isLinked ? CacheLink.stampSize : CacheFile.padded(body) }
        /// The place of the head.
        var headStart: Int { sumsStart + CacheFile.pieces(body) * 8 }
        /// The size of the file.
        var size: Int { headStart + head + trailer }
    }

    /// Reads the lengths of head and body from the end of a file. Nil when they are damaged.
    static func lengths(_ end: UnsafeRawBufferPointer) -> Lengths? {
        guard end.count >= trailer else { return nil }
        func number(_ index: Int) -> UInt64 {
            UInt64(littleEndian: end.loadUnaligned(fromByteOffset: end.count - trailer + index * 8, as: UInt64.self))
        }
        let (head, body) = (number(0), number(1) & ~linked)
        guard number(2) == magic, head < limit, head % 8 == 0, body < 1 << 48 else { return nil }
        return Lengths(head: Int(head), body: Int(body), isLinked: number(1) & linked != 0)
    }

    /// Reads a head. Nil when it is damaged.
    ///
    /// - Parameters:
    ///   - bytes: The head and the trailer, which has valid lengths.
    ///   - url: The URL that the response probably has, as in a ``CacheKey``.
    init?(_ bytes: UnsafeRawBufferPointer, like url: String? = nil) {
        let end = bytes.count - Self.trailer
        guard let bodyCount = Self.lengths(bytes)?.body else { return nil }
        self.bodyCount = bodyCount
        let sum = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: end + 24, as: UInt64.self))
        guard CacheChecksum.of(UnsafeRawBufferPointer(rebasing: bytes[..<(end + 24)])) == sum else { return nil }
        var reader = CacheHeadReader(UnsafeRawBufferPointer(rebasing: bytes[..<end]))
        status = Int(truncatingIfNeeded: reader.number())
        date = Double(bitPattern: reader.number())
        ageBefore = Double(bitPattern: reader.number())
        rules = CacheRules(&reader)
        asked = reader.text(like: url)
        partition = reader.text()
        variant = reader.text()
        self.url = reader.texts().first
        tags = reader.texts()
        headers = reader.fields()
        let numbers = reader.lastNumbers()
        // A body that arrived whole although a part was expected.
        let isWhole = numbers.isEmpty || numbers == [bodyCount, 0, bodyCount]
        part = isWhole ? nil : CacheParts(numbers: numbers, bodyLength: bodyCount)
        // Every number is in the range that a cache writes.
        guard reader.isSound, isWhole == (part == nil), (200..<600).contains(status), abs(date) < 1e11,
            (0..<1e11).contains(ageBefore), abs(rules.made.timeIntervalSince1970) < 1e12
        else { return nil }
    }
}
