import Foundation
import SwitchboardText

/// The files of a disk cache that this process knows.
struct DiskIndex {
    /// The facts of a head that lookups and removals need.
    final class Summary: Sendable {
        let url: String
        let partition: String
        let tags: Set<String>
        let vary: [String]
        let variant: String
        let tag: String?
        let isPart: Bool
        let dateValue: Date

        init(_ response: StoredResponse, _ url: String, _ partition: String) {
            (self.url, self.partition, tags) = (url, partition, response.tags)
            vary = response.varyNames ?? []
            variant = response.variant
            tag = response.tag
            isPart = response.part != nil
            dateValue = response.rules.dateValue
        }

        func matches(_ key: CacheKey) -> Bool { url.hasBytes(of: key.url) && partition.hasBytes(of: key.partition) }
    }

    struct Item {
        let name: CacheFileName
        /// The inode of the file, which another process may replace.
        var inode: UInt64 = 0
        var summary: Summary?
        /// The size in whole blocks of the disk, or nil before the scan.
        var size: Int?
        /// The time of the last use.
        var use: Int64 = 0
        /// The time of the last use that the file states.
        var writtenUse: Int64 = 0
    }

    private var items: [CacheFileName.Key: [Item]] = [:]
    private(set) var count = 0
    /// The sum of the known sizes.
    private(set) var size: Int64 = 0

    var all: some Sequence<Item> { items.values.joined() }

    subscript(key: CacheFileName.Key) -> [Item] { items[key] ?? [] }

    func item(_ name: CacheFileName) -> Item? { items[name.key]?.first { $0.name == name } }

    /// Adds a file. Returns false for a known one.
    @discardableResult
    mutating func add(_ name: CacheFileName) -> Bool {
        guard item(name) == nil else { return false }
        items[name.key, default: []].append(Item(name: name))
        count += 1
        return true
    }

    mutating func change(_ name: CacheFileName, _ body: (inout Item) -> Void) {
        guard let index = items[name.key]?.firstIndex(where: { $0.name == name }) else { return }
        size -= Int64(items[name.key, default: []][index].size ?? 0)
        body(&items[name.key, default: []][index])
        size += Int64(items[name.key, default: []][index].size ?? 0)
    }

    mutating func removeSummaries() {
        for (key, list) in items {
            items[key] = list.map { item in
                var item = item
                item.summary = nil
                return item
            }
        }
    }

    mutating func remove(_ name: CacheFileName) {
        guard let index = items[name.key]?.firstIndex(where: { $0.name == name }),
            let item = items[name.key]?.remove(at: index)
        else { return }
        if items[name.key]?.isEmpty ?? false { items[name.key] = nil }
        count -= 1
        size -= Int64(item.size ?? 0)
    }
}
