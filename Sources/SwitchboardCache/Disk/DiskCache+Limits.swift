import SwitchboardPlatform
import Foundation

extension DiskCache {
    var count: Int { index.count }
    var size: Int { Int(clamping: index.size) }

    /// Whether ``scanSizes(_:)`` has something to do.
    var needsScan: Bool { folder.known.value.changed == nil || !unscanned.isEmpty }

    /// Reads the sizes and last-used times of some files. After the last one, it evicts files above the limits.
    func scanSizes(_ most: Int = 200) {
        list()
        let now = CacheTime.now
        for _ in 0..<most {
            guard let name = unscanned.popLast() else { break }
            guard let item = index.item(name), item.size == nil else { continue }
            var information = stat()
            guard lstat(folder.path(of: name), &information) == 0 else {
                if errno == ENOENT { index.remove(name) }
                continue
            }
            guard information.st_mode & S_IFMT == S_IFREG, information.st_size <= CacheHead.maximumSize else {
                remove(name)
                continue
            }
            let (space, use) = (Self.space(Int(information.st_size)), CacheTime.use(information.changed, at: now))
            index.change(name) { item in
                (item.size, item.writtenUse) = (space, max(CacheTime.use(item.writtenUse, at: now), use))
                item.use = max(CacheTime.use(item.use, at: now), use)
            }
        }
        if unscanned.isEmpty { makeRoom() }
    }

    /// Removes the least recently used files above the limits.
    func makeRoom(keeping newest: CacheFileName? = nil) {
        guard size > limit || count > countLimit, !needsScan else { return }
        let now = CacheTime.now
        while size > limit || count > countLimit {
            if victims.isEmpty {
                // Sorts all files for a tenth of them, so that each eviction takes little time.
                let all = index.all.map { (name: $0.name, use: $0.use) }
                    .sorted { CacheTime.use($0.use, at: now) < CacheTime.use($1.use, at: now) }
                victims = all.prefix(max(16, all.count / 10)).reversed()
            }
            guard let victim = victims.popLast() else { return }
            guard victim.name != newest else {
                if count <= 1 { return }
                continue
            }
            guard let item = index.item(victim.name), item.use == victim.use, !isUsedElsewhere(item, now) else {
                continue
            }
            guard folder.change({ folder.remove(victim.name) }) else { return }
            index.remove(victim.name)
            evictions += 1
        }
    }

    /// Returns whether another process used a file since it was last checked.
    private func isUsedElsewhere(_ item: DiskIndex.Item, _ now: Int64) -> Bool {
        var information = stat()
        guard lstat(folder.path(of: item.name), &information) == 0 else { return false }
        let use = CacheTime.use(information.changed, at: now)
        guard use > CacheTime.use(item.use, at: now) + CacheTime.second else { return false }
        let space = Self.space(Int(min(information.st_size, off_t(CacheHead.maximumSize))))
        index.change(item.name) { item in (item.size, item.use, item.writtenUse) = (space, use, use) }
        return true
    }

    /// Returns the disk space of a file of this size, in bytes.
    static func space(_ bytes: Int) -> Int { (bytes + 4_095) / 4_096 * 4_096 }
}
