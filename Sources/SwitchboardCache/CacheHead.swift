import Foundation
import Switchboard
import SwitchboardText

/// The head of a stored response's file: everything but the body.
///
/// A file consists of a prologue of 32 bytes, the head, the body, and a checksum for each 64 KiB of the body. The
/// prologue has a magic number, the lengths of head and body, and a checksum of these and of the head. Numbers are in
/// little-endian order. A file whose size differs from the lengths is damaged.
struct CacheHead {
    static let prologue = 32
    /// The largest head, in bytes.
    static let limit = 1 << 20
    private static let magic = UInt64(littleEndian: 0x3248_4341_4342_5753)  // "SWBCACH2"

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
    /// The position of the stored bytes of an incomplete response. Nil for a whole one.
    let part: CacheParts?

    /// Returns the response with a body.
    func response(_ body: Data = Data(), _ file: CacheFile? = nil) -> StoredResponse {
        StoredResponse(
            status: status, headers: headers, body: body,
            url: url.flatMap { URL(string: $0) }, variant: variant,
            date: Date(timeIntervalSince1970: date), ageBefore: ageBefore, tags: Set(tags), file: file, part: part)
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
        add(key.url)
        add(key.partition)
        add(try CacheVariant.hash(response.variant))
        add([response.url].compactMap { $0?.asCacheKey == key.url ? nil : $0?.absoluteString })
        add(response.tags.sorted())
        add(response.headers.flatMap { [$0.name, $0.value] })
        // The numbers, and the body behind them, begin at a multiple of eight.
        while bytes.count % 8 != 0 { bytes.append(0) }
        for number in response.part?.numbers ?? [] { add(UInt64(truncatingIfNeeded: number)) }
        return bytes
    }

    /// Returns the prologue of a file.
    static func prologue(head: UnsafeRawBufferPointer, bodyCount: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        func add(_ number: UInt64) { withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) } }
        add(magic)
        add(UInt64(head.count))
        add(UInt64(bodyCount))
        let seed = bytes.withUnsafeBytes { CacheChecksum.of($0) }
        add(CacheChecksum.of(head, seed: seed))
        return bytes
    }

    // MARK: Reading

    /// Reads the lengths of head and body. Nil when they are damaged.
    static func lengths(_ bytes: UnsafeRawBufferPointer) -> (head: Int, body: Int)? {
        guard bytes.count >= prologue else { return nil }
        let numbers = (0..<3).map {
            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self))
        }
        guard numbers[0] == magic, numbers[1] < limit, numbers[2] < 1 << 48 else { return nil }
        return (Int(numbers[1]), Int(numbers[2]))
    }

    /// Reads a head. Nil when it is damaged.
    ///
    /// - Parameter bytes: The prologue and the head.
    init?(_ bytes: UnsafeRawBufferPointer) {
        let start = UnsafeRawBufferPointer(rebasing: bytes[..<24])
        let sum = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 24, as: UInt64.self))
        let head = UnsafeRawBufferPointer(rebasing: bytes[Self.prologue...])
        guard CacheChecksum.of(head, seed: CacheChecksum.of(start)) == sum else { return nil }
        let bodyCount = Int(truncatingIfNeeded: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self).littleEndian)
        var reader = Reader(rest: head)
        guard let status = reader.number(), let date = reader.number(), let ageBefore = reader.number(),
            let asked = reader.text(), let partition = reader.text(), let variant = reader.text(),
            let urls = reader.texts(), let tags = reader.texts(), let fields = reader.texts(),
            head.count % 8 == 0
        else { return nil }
        reader.rest = UnsafeRawBufferPointer(rebasing: reader.rest[(reader.rest.count % 8)...])
        var numbers: [Int] = []
        while let number = reader.number() { numbers.append(Int(truncatingIfNeeded: number)) }
        part = numbers.isEmpty ? nil : CacheParts(numbers: numbers, bodyLength: bodyCount)
        guard numbers.isEmpty == (part == nil) else { return nil }
        self.status = Int(truncatingIfNeeded: status)
        self.date = Double(bitPattern: date)
        self.ageBefore = Double(bitPattern: ageBefore)
        (self.asked, self.partition, self.variant, self.tags) = (asked, partition, variant, tags)
        url = urls.first
        // The sender of a field validates it. Validation here would cost as much as reading all of the head.
        headers = HTTPHeaders(
            stride(from: 0, to: fields.count - 1, by: 2).map {
                HTTPHeader(name: fields[$0], value: fields[$0 + 1])
            }, isSuspect: true)
        // Every number is in the range that a cache writes.
        guard (200..<600).contains(self.status), abs(self.date) < 1e11, (0..<1e11).contains(self.ageBefore) else {
            return nil
        }
    }

    private struct Reader {
        var rest: UnsafeRawBufferPointer

        mutating func number() -> UInt64? {
            guard rest.count >= 8 else { return nil }
            defer { rest = UnsafeRawBufferPointer(rebasing: rest[8...]) }
            return UInt64(littleEndian: rest.loadUnaligned(as: UInt64.self))
        }

        mutating func text() -> String? {
            guard let count = number(), count <= rest.count else { return nil }
            defer { rest = UnsafeRawBufferPointer(rebasing: rest[Int(count)...]) }
            return String(decoding: UnsafeRawBufferPointer(rebasing: rest[..<Int(count)]), as: UTF8.self)
        }

        mutating func texts() -> [String]? {
            guard let count = number(), count <= rest.count / 8 else { return nil }
            var texts: [String] = []
            for _ in 0..<count {
                guard let text = text() else { return nil }
                texts.append(text)
            }
            return texts
        }
    }
}
