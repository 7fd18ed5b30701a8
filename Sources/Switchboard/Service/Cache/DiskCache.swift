import Foundation

/// Stored responses in a folder, a file for each: a line of JSON, then the body. Used by one thread at a time.
///
/// A file's name is a hash of whose response it is and of what; a file that is damaged is removed, and as if it had not been
/// there. Only the owner can read them. When there are too many bytes, those that were read longest ago are removed.
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
    /// - Throws: ``NetworkError/Code/cannotWriteFile`` when there can be no such folder,
    ///   ``NetworkError/Code/unsupported`` where the system has no hash function.
    init(_ folder: URL, limit: Int) throws(NetworkError) {
        self.folder = folder
        self.limit = limit
        _ = try MessageDigest.sha256.checkedHash(Data())
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
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
        guard let data = try? Data(contentsOf: file), let (head, start) = Self.head(of: data),
            head.asked == key.url, head.partition == key.partition, data.count - start == head.bodyLength,
            head.fields.count % 2 == 0
        else {
            remove(name)
            return nil
        }
        let now = Date()
        entries[name]?.use = now
        try? FileManager.default.setAttributes([.modificationDate: now], ofItemAtPath: file.path)
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
                ageBefore: response.ageBefore, bodyLength: response.body.count)
            var data = try JSONEncoder().encode(head)
            guard data.count < Self.headLimit else { return "not stored on disk: its fields are too long" }
            data.append(UInt8(ascii: "\n"))
            data.append(response.body)
            remove(name)
            guard data.count <= limit else { return "not stored on disk: it is larger than the cache" }
            try PrivateFile.write(data, to: folder.appendingPathComponent(name), isSynchronized: false)
            entries[name] = Entry(url: key.url, partition: key.partition, size: data.count, use: Date())
            size += data.count
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

    /// Removes every file of a cache that is in the folder, those that this one does not know too.
    func removeAll() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        for name in names where name.hasSuffix(Self.ending) { unlink(folder.appendingPathComponent(name).path) }
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
        guard !isRead else { return }
        isRead = true
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        for name in names where name.hasSuffix(Self.ending) {
            let file = folder.appendingPathComponent(name)
            let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
            guard let size = attributes?[.size] as? Int, let use = attributes?[.modificationDate] as? Date,
                let head = head(of: file)
            else {
                unlink(file.path)
                continue
            }
            entries[name] = Entry(url: head.asked, partition: head.partition, size: size, use: use)
            self.size += size
        }
        makeRoom()
    }

    private func head(of file: URL) -> Head? {
        guard let handle = try? FileHandle(forReadingFrom: file) else { return nil }
        defer { try? handle.close() }
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
            let head = try? JSONDecoder().decode(Head.self, from: data[..<end]), head.version == 1
        else { return nil }
        return (head, end + 1)
    }

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
