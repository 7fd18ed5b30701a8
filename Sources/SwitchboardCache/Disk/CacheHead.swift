import Foundation
import Switchboard
import SwitchboardText

/// The head of a stored response's file: everything but the body.
///
/// A file consists of the body, padding, a checksum for each 64 KiB of these, the head, and a trailer of 32 bytes. The
/// trailer has the lengths of head and body, a magic number, and a checksum of all these and the head. Numbers are in
/// little-endian order. The checksums, the head and the trailer begin at a multiple of eight. A file whose size differs
/// from the lengths is damaged. The body comes first, so the memory into which a file is read becomes the body without
/// a copy.
enum CacheHead {
    /// The size of the trailer, in bytes.
    static let trailerSize = 32
    /// The largest head, in bytes.
    static let limit = 1 << 20
    /// The size in bytes above which a file is no response. The sum of two sizes fits an `Int` of 32 bits.
    static let maximumSize = Int(min(1 << 48, Int64(Int.max / 2)))
    /// The magic number. It changes with the format, and with the meaning of the stored ``CacheRules``.
    private static let magic: UInt64 = 0x3448_4341_4342_5753  // "SWBCACH4"

    /// A response that was read from a file, and the key that the file states.
    struct Found {
        let url: String
        let partition: String
        let response: StoredResponse

        func matches(_ key: CacheKey) -> Bool { url.hasBytes(of: key.url) && partition.hasBytes(of: key.partition) }
    }

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
        add(key.url)
        add(key.partition)
        add(UInt64(truncatingIfNeeded: response.status))
        add(response.responseTime.timeIntervalSince1970.bitPattern)
        add(response.initialAge.bitPattern)
        for word in response.rules.words { add(word) }
        add(try CacheVariant.hash(response.variant))
        add([response.url].compactMap { $0?.asCacheKey == key.url ? nil : $0?.absoluteString })
        add(response.tags.sorted())
        add(response.headers.flatMap { [$0.name, $0.value] })
        while bytes.count % 8 != 0 { bytes.append(0) }
        for number in response.part?.numbers ?? [] { add(UInt64(truncatingIfNeeded: number)) }
        return bytes
    }

    /// Returns the end of a file: the head and the trailer.
    static func end(_ head: [UInt8], bodyCount: Int) -> [UInt8] {
        var bytes = head
        func add(_ number: UInt64) { withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) } }
        add(UInt64(head.count))
        add(UInt64(bodyCount))
        add(magic)
        add(bytes.withUnsafeBytes { CacheChecksum.of($0) })
        return bytes
    }

    // MARK: Reading

    /// The lengths of the parts of a file.
    struct Lengths {
        let head: Int
        let body: Int

        var headStart: Int { CacheFile.headStart(body) }
        var size: Int { headStart + head + trailerSize }
    }

    /// Reads the lengths of head and body from the end of a file. Nil when they are damaged.
    static func lengths(_ end: UnsafeRawBufferPointer) -> Lengths? {
        guard end.count >= trailerSize else { return nil }
        func number(_ index: Int) -> UInt64 {
            UInt64(
                littleEndian: end.loadUnaligned(fromByteOffset: end.count - trailerSize + index * 8, as: UInt64.self))
        }
        let (head, body) = (number(0), number(1))
        guard number(2) == magic, head < limit, head % 8 == 0, body < maximumSize else { return nil }
        return Lengths(head: Int(head), body: Int(body))
    }

    /// Reads a response.
    ///
    /// - Parameters:
    ///   - bytes: The head and the trailer, which has valid lengths.
    ///   - url: The URL that the response probably has, as in a ``CacheKey``.
    ///   - file: The file, if it has the body.
    ///   - body: Returns the body. Called at the end, if the head is not damaged.
    /// - Returns: The response with its key, or nil when the head is damaged.
    static func read(
        _ bytes: UnsafeRawBufferPointer, expecting url: String? = nil, _ file: CacheFile? = nil,
        body: () -> Data = { Data() }
    ) -> Found? {
        let end = bytes.count - trailerSize
        guard let bodyCount = lengths(bytes)?.body else { return nil }
        let sum = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: end + 24, as: UInt64.self))
        guard CacheChecksum.of(UnsafeRawBufferPointer(rebasing: bytes[..<(end + 24)])) == sum else { return nil }
        var reader = CacheHeadReader(UnsafeRawBufferPointer(rebasing: bytes[..<end]))
        let (storedURL, partition) = (reader.text(expecting: url), reader.text())
        return StoredResponse(&reader, bodyCount, file, body: body)
            .map { Found(url: storedURL, partition: partition, response: $0) }
    }
}

/// Reads the numbers and texts of a stored response's head.
struct CacheHeadReader {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0
    /// Whether the head had everything that was read.
    private(set) var isSound = true

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    mutating func number() -> UInt64 {
        guard bytes.count - offset >= 8 else {
            isSound = false
            return 0
        }
        defer { offset += 8 }
        return UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// Reads a number of seconds. NaN becomes nil.
    mutating func seconds() -> Double? {
        let seconds = Double(bitPattern: number())
        return seconds.isNaN ? nil : seconds
    }

    /// Reads a text. Returns `known` if the text is equal to it, which allocates no memory.
    mutating func text(expecting known: String? = nil) -> String {
        let count = number()
        guard count <= bytes.count - offset else {
            isSound = false
            return ""
        }
        defer { offset += Int(count) }
        let text = UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + Int(count))])
        if let known, known.hasBytes(of: text) { return known }
        guard text.count < 16 else { return String(decoding: text, as: UTF8.self) }
        // Takes half of the time, and no heap memory for a short text.
        return String(unsafeUninitializedCapacity: text.count) { room in
            UnsafeMutableRawBufferPointer(room).copyMemory(from: text)
            return text.count
        }
    }

    /// Reads the number of texts, which is at most what the rest can contain.
    private mutating func count() -> Int {
        let count = number()
        guard count <= (bytes.count - offset) / 8 else {
            isSound = false
            return 0
        }
        return Int(count)
    }

    mutating func texts() -> [String] {
        let count = count()
        guard count > 0 else { return [] }
        return (0..<count).map { _ in text() }
    }

    mutating func fields() -> HTTPHeaders {
        let fields = (0..<(count() / 2)).map { _ in HTTPHeader(name: text(), trimmedValue: text()) }
        // Does not validate: that takes as long as reading the whole head. The sender of a field validates it.
        return HTTPHeaders(fields, needsValidation: true)
    }

    /// Reads the numbers after the texts, which begin at a multiple of eight.
    mutating func lastNumbers() -> [Int] {
        offset = (offset + 7) / 8 * 8
        var numbers: [Int] = []
        while offset < bytes.count, isSound { numbers.append(Int(truncatingIfNeeded: number())) }
        return numbers
    }
}
