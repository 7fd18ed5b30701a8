import SwitchboardText

/// The state of a cache's storage that a hit reads without a turn of the actor.
struct CacheHeld: Sendable {
    var memory: MemoryCache
    var counts = CacheUsage()
    /// The number of removals and replacements. Each counts after its files are gone; a removal also counts before.
    var removals = 0
    /// The identity of the last response that was read from disk. Most programs have one.
    var owner: (identity: String, owner: CacheOwner)?
    /// The files whose use was told since a time, which is at most a minute ago.
    private var told: (since: Int64, files: Set<CacheFileName.Key>) = (0, [])

    init(memory: MemoryCache) {
        self.memory = memory
    }

    /// Returns the owner of a key, if it is the last one.
    func owner(of key: CacheKey) -> CacheOwner? {
        owner.flatMap { $0.identity.hasBytes(of: key.identity) ? $0.owner : nil }
    }

    /// Returns whether the file of a response that was used tells that now, and notes it: once a minute.
    mutating func isToBeTold(_ name: CacheFileName, at time: Int64) -> Bool {
        let isOver = !(told.since..<(told.since + CacheTime.lag)).contains(time)
        if isOver || told.files.count > 4_096 { told = (time, []) }
        return told.files.insert(name.key).inserted
    }
}
