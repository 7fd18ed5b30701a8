import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardText

/// Stores responses in a folder, one file per response: a line of JSON, then the body. Not thread-safe.
///
/// A file's name is a hash of its ``CacheKey``, and a hash of its variant if it has one. The cache leaves other files alone and removes damaged ones, which
/// count as absent. Only the owner can read the files. Above the limit, the cache evicts the least recently used
/// responses; a file counts as whole blocks of 4 KiB.
final class DiskCache {
    private struct Head: Codable {
        var version = 1
        let asked: String
        let partition: String
        let status: Int
        /// Alternating names and values.
        let fields: [String]
        let url: URL?
        let variant: String
        let date: Double
        let ageBefore: Double
        let bodyLength: Int
        let bodyHash: String
        /// The app's tags, or nil without any.
        let tags: [String]?
        /// The position of the stored bytes of an incomplete response.
        let parts: [Int]?

        /// Whether the position of an incomplete body fits its length.
        var isPlausible: Bool { parts.map { CacheParts(numbers: $0, bodyLength: bodyLength) != nil } ?? true }

        /// Whether every number is in the range that a cache writes.
        var isSound: Bool {
            version == (parts == nil ? 1 : 2) && (200..<600).contains(status) && fields.count % 2 == 0
                && abs(date) < 1e11
                && (0..<1e11).contains(ageBefore)
        }
    }

    private struct Entry {
        let url: String
        let partition: String
        let tags: Set<String>
        /// The fields that `Vary` names.
        let vary: [String]
        let variant: String
        let tag: String?
        let isPart: Bool
        let made: Date
        let size: Int
        var use: Date

        init(_ response: StoredResponse, _ url: String, _ partition: String, size: Int, use: Date) {
            self.url = url
            self.partition = partition
            tags = response.tags
            vary = CacheVariant.names(response.headers) ?? []
            variant = response.variant
            tag = response.tag
            isPart = response.part != nil
            made = response.rules.made
            self.size = size
            self.use = use
        }
    }

    private let folder: URL
    private let limit: Int
    private static let ending = ".response"
    /// The largest first line, in bytes.
    private static let headLimit = 1 << 20
    private var entries: [String: Entry] = [:]
    /// The names of the files of each key, by the hash of the key.
    private var groups: [String: Set<String>] = [:]
    private var isRead = false
    private(set) var size = 0

    /// Creates a disk cache.
    ///
    /// - Parameters:
    ///   - folder: The folder of the files. Created if missing.
    ///   - limit: The largest total size of the files, in bytes.
    /// - Throws: `NetworkError.Code.cannotWriteFile` when the folder cannot be created, `NetworkError.Code.unsupported`
    ///   on a system without a hash function.
    init(_ folder: URL, limit: Int) throws(NetworkError) {
        self.folder = folder
        self.limit = limit
        _ = try MessageDigest.sha256.checkedHash(Data())
        do {
            try Self.make(folder)
        } catch {
            throw NetworkError(
                .cannotWriteFile, reason: "\(folder.path.quotedForMessage) cannot be made", underlying: error)
        }
    }

    var count: Int {
        readFolder()
        return entries.count
    }

    /// Returns whether a response of the key is stored.
    func holds(_ key: CacheKey) -> Bool { !variants(of: key).isEmpty }

    /// Returns the entity tags of all whole variants.
    func tags(of key: CacheKey) -> [String] { variants(of: key).filter { !$0.entry.isPart }.compactMap(\.entry.tag) }

    /// Reads the most recent response that matches a request. Nil if it is not more recent than `limit`.
    func find(_ key: CacheKey, _ request: NetworkRequest, madeAfter limit: Date?) -> StoredResponse? {
        let found = variants(of: key).filter { CacheVariant.matches($0.entry.variant, $0.entry.vary, request) }
            .max { $0.entry.made < $1.entry.made }
        guard let found, limit.map({ found.entry.made > $0 }) ?? true else { return nil }
        return read(found.name, key)
    }

    /// Reads the whole variant with an entity tag.
    func find(_ key: CacheKey, tag: String) -> StoredResponse? {
        variants(of: key).first { !$0.entry.isPart && $0.entry.tag?.isSameTag(as: tag) ?? false }
            .flatMap { read($0.name, key) }
    }

    /// Reads all variants with an entity tag.
    func all(_ key: CacheKey, tag: String) -> [StoredResponse] {
        variants(of: key).filter { $0.entry.tag == tag }.compactMap { read($0.name, key) }
    }

    private func variants(of key: CacheKey) -> [(name: String, entry: Entry)] {
        readFolder()
        guard let names = (try? hash(of: key)).flatMap({ groups[$0] }) else { return [] }
        return names.compactMap { name in entries[name].map { (name, $0) } }
    }

    private func read(_ name: String, _ key: CacheKey) -> StoredResponse? {
        let file = folder.appendingPathComponent(name)
        let data: Data
        do {
            guard let there = try PrivateFile.read(file, limit: limit) else { throw POSIXError(.ENOENT) }
            data = there
        } catch let error as POSIXError where error.code != .ENOENT {
            return nil  // The file may be readable again later: too many files may be open.
        } catch {
            remove(name)
            return nil
        }
        guard let (head, start) = Self.head(of: data), head.asked.hasBytes(of: key.url),
            head.partition.hasBytes(of: key.partition),
            data.count - start == head.bodyLength, head.isPlausible,
            (try? Self.hash(data[start...])) == head.bodyHash
        else {
            remove(name)
            return nil
        }
        noteUse(ofFile: name)
        return Self.response(of: head, Data(data[start...]))
    }

    private static func response(of head: Head, _ body: Data = Data()) -> StoredResponse {
        var headers = HTTPHeaders()
        for index in stride(from: 0, to: head.fields.count, by: 2) {
            headers.add(head.fields[index], head.fields[index + 1])
        }
        return StoredResponse(
            status: head.status, headers: headers, body: body, url: head.url, variant: head.variant,
            date: Date(timeIntervalSince1970: head.date), ageBefore: head.ageBefore, tags: Set(head.tags ?? []),
            part: head.parts.flatMap { CacheParts(numbers: $0, bodyLength: head.bodyLength) })
    }

    /// Writes a response.
    ///
    /// - Returns: The reason why the response was not stored, or nil on success.
    func write(_ response: StoredResponse, _ key: CacheKey) -> String? {
        readFolder()
        do {
            let name = try name(of: key, response.variant)
            let head = Head(
                version: response.part == nil ? 1 : 2,
                asked: key.url, partition: key.partition, status: response.status,
                fields: response.headers.flatMap { [$0.name, $0.value] }, url: response.url,
                variant: try CacheVariant.hash(response.variant), date: response.date.timeIntervalSince1970,
                ageBefore: response.ageBefore, bodyLength: response.body.count, bodyHash: try Self.hash(response.body),
                tags: response.tags.isEmpty ? nil : response.tags.sorted(), parts: response.part?.numbers)
            var data = try JSONEncoder().encode(head)
            guard data.count < Self.headLimit else { return "not stored on disk: its fields are too long" }
            data.append(UInt8(ascii: "\n"))
            data.append(response.body)
            remove(name)
            let space = Self.space(data.count)
            guard space <= limit else { return "not stored on disk: it is larger than the cache" }
            let file = folder.appendingPathComponent(name)
            do {
                try PrivateFile.write(data, to: file, isSynchronized: false)
            } catch {
                // The system may delete the whole cache folder.
                try Self.make(folder)
                try PrivateFile.write(data, to: file, isSynchronized: false)
            }
            add(Entry(response, key.url, key.partition, size: space, use: Date()), name)
            let variants = variants(of: key)
            if variants.count > CacheVariant.limit,
                let oldest = variants.filter({ $0.name != name }).min(by: { $0.entry.use < $1.entry.use })
            {
                remove(oldest.name)
            }
            makeRoom(besides: name)
            return nil
        } catch {
            return "not stored on disk: \((error as? NetworkError)?.summary ?? error.localizedDescription)"
        }
    }

    func remove(where isMeant: (_ url: String, _ partition: String, _ tags: Set<String>) -> Bool) {
        readFolder()
        for (name, entry) in entries where isMeant(entry.url, entry.partition, entry.tags) { remove(name) }
    }

    /// Removes the variants that match a request.
    func remove(_ key: CacheKey, _ request: NetworkRequest) {
        for (name, entry) in variants(of: key) where CacheVariant.matches(entry.variant, entry.vary, request) {
            remove(name)
        }
    }

    /// Marks a response as used when the memory cache answered with it.
    func noteUse(of key: CacheKey, _ variant: String) {
        readFolder()
        if let name = try? name(of: key, variant), entries[name] != nil { noteUse(ofFile: name) }
    }

    private func noteUse(ofFile name: String) {
        let now = Date()
        entries[name]?.use = now
        let path = folder.appendingPathComponent(name).path
        try? FileManager.default.setAttributes([.modificationDate: now], ofItemAtPath: path)
    }

    /// Removes all cache files in the folder, including files of other processes.
    func removeAll() {
        for name in names ?? [] where Self.isOwn(name) || Self.isRemnant(name) {
            unlink(folder.appendingPathComponent(name).path)
        }
        entries = [:]
        groups = [:]
        size = 0
        isRead = true
    }

    // MARK: The folder

    private func hash(of key: CacheKey) throws(NetworkError) -> String {
        // Each part carries its length, so different keys never produce the same text.
        let text = [key.partition, key.identity, key.url].map { "\($0.utf8.count) \($0)" }.joined(separator: "\n")
        return try Self.hash(Data(text.utf8))
    }

    private func name(of key: CacheKey, _ variant: String) throws(NetworkError) -> String {
        let suffix = variant.isEmpty ? "" : "-\(try CacheVariant.hash(variant).suffix(Self.suffixLength))"
        return try hash(of: key) + suffix + Self.ending
    }

    private static let suffixLength = 16

    private func add(_ entry: Entry, _ name: String) {
        entries[name] = entry
        groups[String(name.prefix(64)), default: []].insert(name)
        size += entry.size
    }

    /// Indexes the files that earlier runs of the program left.
    private func readFolder() {
        guard !isRead, let names else { return }
        isRead = true
        for name in names where entries[name] == nil {
            let file = folder.appendingPathComponent(name)
            if Self.isRemnant(name) { unlink(file.path) }
            // Skips a file that cannot be read now, for example because too many files are open.
            guard Self.isOwn(name), let attributes = try? FileManager.default.attributesOfItem(atPath: file.path),
                let handle = try? FileHandle(forReadingFrom: file)
            else { continue }
            defer { try? handle.close() }
            guard attributes[.type] as? FileAttributeType == .typeRegular, let size = attributes[.size] as? Int,
                let use = attributes[.modificationDate] as? Date, let head = head(in: handle)
            else {
                unlink(file.path)
                continue
            }
            add(Entry(Self.response(of: head), head.asked, head.partition, size: Self.space(size), use: use), name)
        }
        makeRoom()
    }

    private func head(in handle: FileHandle) -> Head? {
        var data = Data()
        while data.count < Self.headLimit {
            guard let piece = try? handle.read(upToCount: 16 << 10), !piece.isEmpty else { break }
            data.append(piece)
            if piece.contains(UInt8(ascii: "\n")) { break }
        }
        return Self.head(of: data)?.head
    }

    private static func head(of data: Data) -> (head: Head, start: Int)? {
        guard let end = data.prefix(headLimit).firstIndex(of: UInt8(ascii: "\n")),
            let head = try? JSONDecoder().decode(Head.self, from: data[..<end]), head.isSound
        else { return nil }
        return (head, end + 1)
    }

    /// The names of the files, or nil when the folder cannot be read.
    private var names: [String]? { try? FileManager.default.contentsOfDirectory(atPath: folder.path) }

    /// Returns whether a file name is one that a cache generates. The folder may contain other files.
    private static func isOwn(_ name: some StringProtocol) -> Bool {
        let parts = name.dropLast(ending.count).split(separator: "-", omittingEmptySubsequences: false)
        guard name.hasSuffix(ending), parts[0].utf8.count == 64, parts.count <= 2 else { return false }
        return (parts.count == 1 || parts[1].utf8.count == suffixLength)
            && parts.allSatisfy { $0.allSatisfy(\.isHexDigit) }
    }

    /// Returns whether a file is the temporary file of a process that ended during a write.
    private static func isRemnant(_ name: String) -> Bool {
        guard name.hasPrefix("."), name.hasSuffix(".part"), let end = name.range(of: ending)?.upperBound else {
            return false
        }
        return isOwn(name[..<end].dropFirst())
    }

    private static func make(_ folder: URL) throws {
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    private static func hash(_ body: Data) throws(NetworkError) -> String {
        try MessageDigest.sha256.checkedHash(body).hexText
    }

    /// Returns the disk space of a file of this size, in bytes.
    private static func space(_ bytes: Int) -> Int { (bytes + 4_095) / 4_096 * 4_096 }

    private func remove(_ name: String) {
        guard let entry = entries.removeValue(forKey: name) else { return }
        size -= entry.size
        let group = String(name.prefix(64))
        groups[group]?.remove(name)
        if groups[group]?.isEmpty ?? false { groups[group] = nil }
        unlink(folder.appendingPathComponent(name).path)
    }

    private func makeRoom(besides newest: String = "") {
        guard size > limit else { return }
        // Frees a tenth more than needed, so that the next write does not sort all entries again.
        let goal = limit - limit / 10
        for (name, _) in entries.sorted(by: { $0.value.use < $1.value.use }) where size > goal && name != newest {
            remove(name)
        }
    }
}
