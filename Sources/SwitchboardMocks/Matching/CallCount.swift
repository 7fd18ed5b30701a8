/// The number of requests that a stub expects. It is also the limit: a stub answers no more requests than its upper
/// bound.
public struct CallCount: Sendable, Hashable {
    /// The least and the greatest number.
    public let range: ClosedRange<Int>

    private init(_ range: ClosedRange<Int>) {
        self.range = range
    }

    /// Any number of requests, zero included.
    public static let any = CallCount(0...Int.max)
    /// Exactly one request.
    public static let once = exactly(1)
    /// No request: a request that the stub matches is refused.
    public static let never = exactly(0)

    /// Creates an exact number. A negative number counts as zero.
    public static func exactly(_ count: Int) -> CallCount { CallCount(max(0, count)...max(0, count)) }
    /// Creates a minimum. A negative number counts as zero.
    public static func atLeast(_ count: Int) -> CallCount { CallCount(max(0, count)...Int.max) }
    /// Creates a maximum. A negative number counts as zero.
    public static func atMost(_ count: Int) -> CallCount { CallCount(0...max(0, count)) }
}

extension CallCount: ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// Creates an exact number.
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
