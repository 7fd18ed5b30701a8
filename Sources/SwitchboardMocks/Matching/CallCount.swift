/// How often a stub should be asked. Also an upper bound: a stub that has answered as often as it may answers no more.
public struct CallCount: Sendable, Hashable {
    /// The least and the greatest number.
    public let range: ClosedRange<Int>

    private init(_ range: ClosedRange<Int>) {
        self.range = range
    }

    /// Any number of times, none included.
    public static let any = CallCount(0...Int.max)
    /// Exactly once.
    public static let once = exactly(1)
    /// Not at all: a request that the stub matches is refused.
    public static let never = exactly(0)

    /// Exactly so often. A negative number counts as none.
    public static func exactly(_ count: Int) -> CallCount { CallCount(max(0, count)...max(0, count)) }
    /// So often or more.
    public static func atLeast(_ count: Int) -> CallCount { CallCount(max(0, count)...Int.max) }
    /// So often or less.
    public static func atMost(_ count: Int) -> CallCount { CallCount(0...max(0, count)) }
}

extension CallCount: ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// Exactly so often.
    public init(integerLiteral value: Int) {
        self = .exactly(value)
    }

    /// The number in words: `exactly 2`, `at least 1`.
    public var description: String {
        switch (range.lowerBound, range.upperBound) {
        case (0, .max): "any number"
        case (let least, .max): "at least \(least)"
        case (let least, let most) where least == most: "exactly \(least)"
        case (0, let most): "at most \(most)"
        case (let least, let most): "\(least) to \(most)"
        }
    }
}
