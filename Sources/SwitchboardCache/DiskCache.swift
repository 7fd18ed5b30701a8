import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardText

/// Stored responses in a folder, a file for each: a line of JSON, then the body. Used by one thread at a time.
///
/// A file's name is a hash of whose response it is and of what; other files are left alone. One that is damaged is removed, and
/// as if it had not been there. Only the owner can read them. When there are too many bytes, those that were read longest ago
/// are removed; a file counts as whole blocks of 4 KiB.
final class DiskCache {
    private struct Head: Codable {
        var version = 1
        let asked: String
        let partition: String
        let status: Int
        /// Names and values in turn.
        let fields: [String]
        let url: URL?
        let variant: String
        let date: Double
        let ageBefore: Double
        let bodyLength: Int
        let bodyHash: String

        /// Whether every number is one that a cache wrote.
        var isSound: Bool {
            version == 1 && (200..<300).contains(status) && fields.count % 2 == 0 && abs(date) < 1e11
                && (0..<1e11).contains(ageBefore)
        }
    }

    private struct Entry {
        let url: String
        let partition: String
        let size: Int
        var use: Date
    }

    private let folder: URL
    private let limit: Int
    private static let ending = ".response"
    /// The first line is longer for nobody.
    private static let headLimit = 1 << 20
    private var entries: [String: Entry] = [:]
    private var isRead = false
    private(set) var size = 0

    /// - Parameters:
    ///   - folder: Made when it is missing.
    ///   - limit: In bytes, of the files.
    /// - Throws: `NetworkError.Code.cannotWriteFile` when there can be no such folder,
    ///   `NetworkError.Code.unsupported` where the system has no hash function.
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

    func read(_ key: CacheKey) -> StoredResponse? {
        readFolder()
        guard let name = try? name(of: key), entries[name] != nil else { return nil }
        let file = folder.appendingPathComponent(name)
        let data: Data
        do {
            guard let there = try PrivateFile.read(file, limit: limit) else { throw POSIXError(.ENOENT) }
            data = there
        } catch let error as POSIXError where error.code != .ENOENT {
            return nil  // it may be readable again: too many files are open, say
        } catch {
            remove(name)
            return nil
        }
        guard let (head, start) = Self.head(of: data), head.asked == key.url, head.partition == key.partition,
            data.count - start == head.bodyLength,
            (try? Self.hash(data[start...])) == head.bodyHash
        else {
            remove(name)
            return nil
        }
        noteUse(ofFile: name)
        var headers = HTTPHeaders()
        for index in stride(from: 0, to: head.fields.count, by: 2) {
            headers.add(head.fields[index], head.fields[index + 1])
        }
        return StoredResponse(
            status: head.status, headers: headers, body: Data(data[start...]), url: head.url, variant: head.variant,
            date: Date(timeIntervalSince1970: head.date), ageBefore: head.ageBefore)
    }

    /// - Returns: Why it was not stored; nil when it was.
    func write(_ response: StoredResponse, _ key: CacheKey) -> String? {
        readFolder()
        do {
            let name = try name(of: key)
            let head = Head(
                asked: key.url, partition: key.partition, status: response.status,
                fields: response.headers.flatMap { [$0.name, $0.value] }, url: response.url,
                variant: try StoredResponse.hash(variant: response.variant), date: response.date.timeIntervalSince1970,
                ageBefore: response.ageBefore, bodyLength: response.body.count, bodyHash: try Self.hash(response.body))
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
                // A system may empty its folder of caches, and take this one with it.
                try Self.make(folder)
                try PrivateFile.write(data, to: file, isSynchronized: false)
            }
            entries[name] = Entry(url: key.url, partition: key.partition, size: space, use: Date())
            size += space
            makeRoom(besides: name)
            return nil
        } catch {
            return "not stored on disk: \((error as? NetworkError)?.summary ?? error.localizedDescription)"
        }
    }

    func remove(where isMeant: (_ url: String, _ partition: String) -> Bool) {
        readFolder()
        for (name, entry) in entries where isMeant(entry.url, entry.partition) { remove(name) }
    }

    func remove(_ key: CacheKey) {
        readFolder()
        if let name = try? name(of: key) { remove(name) }
    }

    /// Notes that a response was asked for, though it came from elsewhere.
    func noteUse(of key: CacheKey) {
        readFolder()
        if let name = try? name(of: key), entries[name] != nil { noteUse(ofFile: name) }
    }

    private func noteUse(ofFile name: String) {
        let now = Date()
        entries[name]?.use = now
        let path = folder.appendingPathComponent(name).path
        try? FileManager.default.setAttributes([.modificationDate: now], ofItemAtPath: path)
    }

    /// Removes every file of a cache that is in the folder, those that this one does not know too.
    func removeAll() {
        for name in names ?? [] where Self.isOwn(name) || Self.isRemnant(name) {
            unlink(folder.appendingPathComponent(name).path)
        }
        entries = [:]
        size = 0
        isRead = true
    }

    // MARK: The folder

    private func name(of key: CacheKey) throws(NetworkError) -> String {
        // Each part with its length: no two keys are written alike.
        let text = [key.partition, key.identity, key.url].map { "\($0.utf8.count) \($0)" }.joined(separator: "\n")
        return try MessageDigest.sha256.checkedHash(Data(text.utf8)).hexText + Self.ending
    }

    /// Reads what earlier runs of the program left.
    private func readFolder() {
        guard !isRead, let names else { return }
        isRead = true
        for name in names where entries[name] == nil {
            let file = folder.appendingPathComponent(name)
            if Self.isRemnant(name) { unlink(file.path) }
            // What cannot be read now, when too many files are open, say, is left alone.
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
            entries[name] = Entry(url: head.asked, partition: head.partition, size: Self.space(size), use: use)
            self.size += Self.space(size)
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

    /// Nil when the folder cannot be read.
    private var names: [String]? { try? FileManager.default.contentsOfDirectory(atPath: folder.path) }

    /// Whether a cache gave a file this name: the folder may hold others.
    private static func isOwn(_ name: some StringProtocol) -> Bool {
        name.hasSuffix(ending) && name.utf8.count == 64 + ending.utf8.count && name.prefix(64).allSatisfy(\.isHexDigit)
    }

    /// Whether it is what a process left that ended while it wrote.
    private static func isRemnant(_ name: String) -> Bool {
        name.hasPrefix(".") && name.hasSuffix(".part") && isOwn(name.dropFirst().prefix(64 + ending.utf8.count))
    }

    private static func make(_ folder: URL) throws {
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    private static func hash(_ body: Data) throws(NetworkError) -> String {
        try MessageDigest.sha256.checkedHash(body).hexText
    }

    /// What a file of so many bytes takes of a disk.
    private static func space(_ bytes: Int) -> Int { (bytes + 4_095) / 4_096 * 4_096 }

    private func remove(_ name: String) {
        guard let entry = entries.removeValue(forKey: name) else { return }
        size -= entry.size
        unlink(folder.appendingPathComponent(name).path)
    }

    private func makeRoom(besides newest: String = "") {
        guard size > limit else { return }
        // A tenth more than needed, so that the next one does not sort them all again.
        let goal = limit - limit / 10
        for (name, _) in entries.sorted(by: { $0.value.use < $1.value.use }) where size > goal && name != newest {
            remove(name)
        }
    }
}
