import Foundation
@testable import Switchboard
@testable import SwitchboardCache
@testable import SwitchboardHAR
@testable import SwitchboardJSON

extension Target {
    static let stored = [cacheHead, cacheFile, har]

    private static let cacheHead = Target("cache-head") { bytes in
        var choices = Choices(bytes)
        // Most heads are a valid one, a part of which is replaced.
        var head = StoredFiles.head
        let start = choices.number(below: head.count + 1)
        let end = min(head.count, start + choices.number(below: 32))
        head.replaceSubrange(start..<end, with: choices.all())
        guard let found = StoredFiles.read(head) else { return }
        guard let again = try? CacheHead.bytes(of: found.response, StoredFiles.key), let other = StoredFiles.read(again)
        else { return }
        check(other.response.status == found.response.status, "the status differs when it is read again")
        check(other.response.headers == found.response.headers, "the fields differ when they are read again")
        // They decide who receives the response, and when.
        let (response, second) = (found.response, other.response)
        // A file has the hash of a variant, and no URL that is that of its key.
        let variant = try? CacheVariant.hash(response.variant)
        let url = response.url?.asCacheKey == StoredFiles.key.url ? nil : response.url
        check(
            second.url == url && second.variant == variant && second.tags == response.tags
                && second.responseTime == response.responseTime && second.initialAge == response.initialAge,
            "\(second.url as Any), \(second.variant), \(second.tags), \(second.responseTime), \(second.initialAge) "
                + "instead of \(response.url as Any), \(response.variant), \(response.tags), "
                + "\(response.responseTime), \(response.initialAge)")
        check(
            second.part == response.part && second.bodyCount == response.bodyCount, "the body has another position")
    } read: {
        _ = StoredFiles.read(Array($0))
    }

    private static let cacheFile = Target("cache-file") { bytes in
        var choices = Choices(bytes)
        // A few bytes of a valid file are changed, and the file ends earlier or later.
        let file = StoredFiles.file
        var changed = file
        for _ in 0..<choices.number(below: 4) {
            changed[choices.number(below: 256) * choices.number(below: 4) % changed.count] = UInt8(
                choices.number(below: 256))
        }
        let cut = choices.number(below: 2) == 0 ? 0 : choices.number(below: changed.count)
        changed = changed.dropLast(cut) + choices.all()
        let isFound = StoredFiles.readFile(changed)
        check(isFound == (changed == file), "a file is \(isFound ? "" : "not ")found, and it is \(changed)")
    } read: {
        _ = StoredFiles.readFile(Array($0))
    }

    private static let har = Target("har") { bytes in
        guard let archive = try? FastJSONDecoder().decode(HAR.self, from: Data(bytes)) else { return }
        guard let data = try? archive.data else { return }
        let again = Result { try FastJSONDecoder().decode(HAR.self, from: data) }
        guard let other = again.value else { fatalError("\(again)") }
        let second = try? other.data
        check(second == data, "the archive differs when it is read again")
    } read: {
        _ = try? FastJSONDecoder().decode(HAR.self, from: $0)
    }
}

private enum StoredFiles {
    static let path = FileManager.default.temporaryDirectory.appendingPathComponent("fuzz-\(getpid())").path

    static let key = CacheKey(NetworkRequest(.get, URL(string: "https://a.example/")), identity: nil)!

    /// Reads a head with a right trailer.
    static func read(_ head: [UInt8]) -> CacheHead.Found? {
        let padded = head + [UInt8](repeating: 0, count: (8 - head.count % 8) % 8)
        return CacheHead.end(padded, bodyCount: 100).withUnsafeBytes { CacheHead.read($0) }
    }

    static let head: [UInt8] = {
        let response = StoredResponse(
            status: 200, headers: ["ETag": "\"a\"", "Cache-Control": "max-age=60", "Vary": "Accept"], body: body,
            url: URL(string: "https://b.example/"), variant: "accept: a",
            responseTime: Date(timeIntervalSince1970: 1e9),
            initialAge: 1, tags: ["a", "b"])
        guard let head = try? CacheHead.bytes(of: response, key) else { fatalError("the head is not written") }
        return head
    }()

    private static let body = Data("the body of a response".utf8)

    /// A valid file.
    static let file: [UInt8] = {
        var bytes = Array(body) + [UInt8](repeating: 0, count: CacheFile.padded(body.count) - body.count)
        let sum = bytes.withUnsafeBytes { CacheChecksum.of($0) }
        withUnsafeBytes(of: sum.littleEndian) { bytes += $0 }
        return bytes + CacheHead.end(head, bodyCount: body.count)
    }()

    /// Returns whether bytes are the file of a response.
    static func readFile(_ bytes: [UInt8]) -> Bool {
        // `Data` would wait for the disk.
        guard let file = fopen(path, "w"), fwrite(bytes, 1, bytes.count, file) == bytes.count, fclose(file) == 0
        else { fatalError("\(path) cannot be written") }
        _ = CacheFile.readHead(path)
        guard case .found(let found) = CacheFile.read(path) else { return false }
        check(found.response.body == body, "the body is \(found.response.body)")
        return true
    }
}
