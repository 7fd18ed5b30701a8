/// Performs work for each number of a range, with a fixed number of tasks at a time.
func inParallel(_ atATime: Int, _ range: Range<Int>, _ work: @escaping @Sendable (Int) async -> Void) async {
    let numbers = Locked(range.makeIterator())
    await withTaskGroup(of: Void.self) { group in
        for _ in 0..<atATime {
            group.addTask {
                while let index = numbers.withLock({ $0.next() }) { await work(index) }
            }
        }
    }
}
