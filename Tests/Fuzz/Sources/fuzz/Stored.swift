import Foundation
@testable import Switchboard
@testable import SwitchboardCache
@testable import SwitchboardHAR
@testable import SwitchboardJSON

extension Target {
    static let stored = [cacheHead, cacheFile, har]

    private static let cacheHead = Target("cache-head", read: { _ = StoredFiles.read(Array($0)) }) { bytes in
        let head = Array(bytes)
        guard let found = StoredFiles.read(head) else { return }
        guard let again = try? CacheHead.bytes(of: found.response, StoredFiles.key),
            let other = StoredFiles.read(again)
        else { return }
        fuzz.check(other.response.status == found.response.status, "the status differs when it is read again")
        fuzz.check(other.response.headers == found.response.headers, "the fields differ when they are read again")
    }

    private static let cacheFile = Target("cache-file", read: { StoredFiles.readFile(Array($0)) })

    private static let har = Target("har", read: { _ = try? FastJSONDecoder().decode(HAR.self, from: $0) }) { bytes in
        guard let archive = try? FastJSONDecoder().decode(HAR.self, from: Data(bytes)) else { return }
        guard let data = try? archive.data else { return }
        let again = attempt { try FastJSONDecoder().decode(HAR.self, from: data) }
        guard let other = again.value else { fatalError("\(again)") }
        let second = try? other.data
        fuzz.check(second == data, "the archive differs when it is read again")
    }
}

private enum StoredFiles {
    static let path = FileManager.default.temporaryDirectory.appendingPathComponent("fuzz-\(getpid())").path

    static let key = CacheKey(NetworkRequest(.get, URL(string: "https://a.example/")), identity: nil, ignoring: [])!

    /// Reads a head with a right trailer.
    static func read(_ head: [UInt8]) -> CacheHead.Found? {
        let padded = head + [UInt8](repeating: 0, count: (8 - head.count % 8) % 8)
        return CacheHead.end(padded, bodyCount: 100).withUnsafeBytes { CacheHead.read($0) }
    }

    /// Reads bytes as a file, as they are, and as a body with a right trailer.
    static func readFile(_ bytes: [UInt8]) {
        let files = [bytes, bytes + CacheHead.end(Array(bytes.prefix(bytes.count / 8 * 8)), bodyCount: bytes.count)]
        for file in files {
            try? Data(file).write(to: URL(fileURLWithPath: path))
            switch CacheFile.read(path) {
            case .found(let found):
                check(found.response.body.count <= file.count, "the body has \(found.response.body.count) bytes")
            case .damaged, .unreadable, .missing: break
            }
            _ = CacheFile.readHead(path)
        }
    }
}
