import Synchronization

/// Hands out each number of a range once.
final class Counter: Sendable {
    private let next: Atomic<Int>
    private let end: Int

    init(_ range: Range<Int>) {
        next = Atomic(range.lowerBound)
        end = range.upperBound
    }

    func take() -> Int? {
        let taken = next.add(1, ordering: .relaxed).oldValue
        return taken < end ? taken : nil
    }
}
