import Foundation

/// The files of a disk cache that this process knows.
struct DiskIndex {
    /// The facts of a head that select a variant.
    final class Brief: Sendable {
        let vary: [String]
        let variant: String
        let tag: String?
        let isPart: Bool
        let made: Date

        init(_ response: StoredResponse) {
            vary = CacheVariant.names(response.headers) ?? []
            variant = response.variant
            tag = response.tag
            isPart = response.part != nil
            made = response.rules.made
        }
    }

    struct Item {
        let name: CacheFileName
        var brief: Brief?
        /// The size in whole blocks, or nil before the survey.
        var size: Int?
        /// The time of the last use, and the one that the file states.
        var use: Int64 = 0
        var told: Int64 = 0
    }

    private var items: [CacheFileName.Key: [Item]] = [:]
    private(set) var count = 0
    /// The sum of the known sizes.
    private(set) var size = 0

    var all: some Sequence<Item> { items.values.joined() }

    /// The variants of a key.
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
        size -= items[name.key, default: []][index].size ?? 0
        body(&items[name.key, default: []][index])
        size += items[name.key, default: []][index].size ?? 0
    }

    mutating func remove(_ name: CacheFileName) {
        guard let index = items[name.key]?.firstIndex(where: { $0.name == name }),
            let item = items[name.key]?.remove(at: index)
        else { return }
        if items[name.key]?.isEmpty ?? false { items[name.key] = nil }
        count -= 1
        size -= item.size ?? 0
    }
}
