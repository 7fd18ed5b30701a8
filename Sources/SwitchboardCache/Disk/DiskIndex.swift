import Foundation
import SwitchboardText

/// The files of a disk cache that this process knows.
struct DiskIndex {
    /// The facts of a head that select a variant, and those by which it is removed.
    final class Brief: Sendable {
        let asked: String
        let partition: String
        let tags: Set<String>
        let vary: [String]
        let variant: String
        let tag: String?
        let isPart: Bool
        let made: Date

        init(_ response: StoredResponse, _ asked: String, _ partition: String) {
            (self.asked, self.partition, tags) = (asked, partition, response.tags)
            vary = CacheVariant.names(response.headers) ?? []
            variant = response.variant
            tag = response.tag
            isPart = response.part != nil
            made = response.rules.made
        }

        /// Returns whether a response has the facts that a replaced one may change.
        func isAbout(_ response: StoredResponse) -> Bool {
            made == response.rules.made && tag == response.tag && isPart == (response.part != nil)
                && tags == response.tags
        }

        func isOf(_ key: CacheKey) -> Bool { asked.hasBytes(of: key.url) && partition.hasBytes(of: key.partition) }
    }

    struct Item {
        let name: CacheFileName
        /// The inode of the file, which another process may replace.
        var inode: UInt64 = 0
        var brief: Brief?
        /// The size in whole blocks, or nil before the survey.
        var size: Int?
        /// The time of the last use, and the one that the file states.
        var use: Int64 = 0
        var told: Int64 = 0
    }

    /// The most briefs that are kept. One takes about 300 bytes.
    private static let briefLimit = 20_000

    private var items: [CacheFileName.Key: [Item]] = [:]
    private(set) var count = 0
    private var briefs = 0
    /// The sum of the known sizes.
    private(set) var size = 0

    var all: some Sequence<Item> { items.values.joined() }

    /// The variants of a key.
    subscript(key: CacheFileName.Key) -> [Item] { items[key] ?? [] }

    func item(_ name: CacheFileName) -> Item? { items[name.key]?.first { $0.name == name } }

    /// Adds a file. Returns false for a known one.
    @discardableResult
    mutating func add(_ name: CacheFileName, inode: UInt64 = 0) -> Bool {
        guard item(name) == nil else { return false }
        items[name.key, default: []].append(Item(name: name, inode: inode))
        count += 1
        return true
    }

    mutating func change(_ name: CacheFileName, _ body: (inout Item) -> Void) {
        guard let index = items[name.key]?.firstIndex(where: { $0.name == name }) else { return }
        size -= items[name.key, default: []][index].size ?? 0
        body(&items[name.key, default: []][index])
        size += items[name.key, default: []][index].size ?? 0
    }

    /// Keeps the facts of a file, unless many are kept. A file that was written again has others.
    mutating func note(_ brief: Brief, of name: CacheFileName) {
        guard let item = item(name) else { return }
        let isKept = item.brief != nil || briefs < Self.briefLimit
        if item.brief == nil, isKept { briefs += 1 }
        change(name) { $0.brief = isKept ? brief : nil }
    }

    /// Forgets the facts and the size of a file that another process replaced.
    mutating func noteReplaced(_ name: CacheFileName, inode: UInt64) {
        if item(name)?.brief != nil { briefs -= 1 }
        change(name) { ($0.inode, $0.brief, $0.size) = (inode, nil, nil) }
    }

    mutating func forgetBriefs() {
        guard briefs > 0 else { return }
        for (key, list) in items {
            items[key] = list.map { item in
                var item = item
                item.brief = nil
                return item
            }
        }
        briefs = 0
    }

    mutating func remove(_ name: CacheFileName) {
        guard let index = items[name.key]?.firstIndex(where: { $0.name == name }),
            let item = items[name.key]?.remove(at: index)
        else { return }
        if items[name.key]?.isEmpty ?? false { items[name.key] = nil }
        count -= 1
        size -= item.size ?? 0
        if item.brief != nil { briefs -= 1 }
    }
}
