import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardText

/// A scripted answer for the requests that match, with a record of them.
/// ``StubAnswering/stub(_:times:with:)-(RequestMatcher,_,_)`` creates it.
///
/// ```swift
/// import SwitchboardTesting
///
/// let session = StubSession()
/// let rating = session.stub(.post("rating"), times: 1, with: .status(201))
/// ...
/// #expect(rating.requests.first?.text == #"{"value":5}"#)
/// ```
public final class Stub: Sendable {
    typealias Answer = @Sendable (RecordedRequest) throws -> MockResponse

    private struct State: Sendable {
        var queue: ResponseQueue
        var requests: [RecordedRequest] = []
    }

    /// The conditions for a request.
    package let matcher: RequestMatcher
    /// The number of requests that the stub expects, and the most that it answers.
    package let times: Count
    /// Creates the response. Nil if the queue has it.
    private let answer: Answer?
    private let state: Protected<State>

    init(_ matcher: RequestMatcher, times: Count, queue: ResponseQueue = ResponseQueue(), answer: Answer? = nil) {
        self.matcher = matcher
        self.times = times
        self.answer = answer
        state = Protected(State(queue: queue))
    }

    /// The requests that the stub answered, in order.
    public var requests: [RecordedRequest] { state.withLock { $0.requests } }

    /// The number of requests that the stub answered.
    public var count: Int { state.withLock { $0.requests.count } }

    var isUsedUp: Bool { count >= times.range.upperBound }

    /// Returns the answer to a matching request and counts it. Nil after the stub is used up.
    func takeAnswer(to request: RecordedRequest) -> (() throws -> MockResponse)? {
        state.withLock { state -> (() throws -> MockResponse)? in
            guard state.requests.count < times.range.upperBound else { return nil }
            state.requests.append(request)
            if let answer { return { try answer(request) } }
            let response = state.queue.nextKeepingLast()
            return { response ?? .status(200) }
        }
    }

    /// The message of a failed verification, or nil when the number of requests is the expected one.
    var fault: String? {
        let count = count
        guard !times.range.contains(count) else { return nil }
        return "\(matcher): answered \(count.counted("time")), expected \(times)"
    }
}

extension Stub: CustomStringConvertible {
    /// The conditions, and the number of requests answered and expected.
    public var description: String { "\(matcher) (answered \(count), expected \(times))" }
}

extension ResponseQueue {
    /// The number of requests that the responses answer. A response without limit counts once.
    var length: Int {
        responses.reduce(0) { sum, response in
            let (length, isTooLong) = sum.addingReportingOverflow(response.repeats ?? 1)
            return isTooLong ? .max : length
        }
    }

    /// Takes the next response. The last one stays in the queue.
    fileprivate mutating func nextKeepingLast() -> MockResponse? {
        if responses.count == 1, first?.repeats ?? 1 == 1 { return first }
        return next()
    }
}

extension Stub {
    /// The number of requests that a stub expects. It is also the limit: a stub answers no more requests than its upper
    /// bound.
    public struct Count: Sendable, Hashable {
        /// The least and the greatest number.
        public let range: ClosedRange<Int>

        private init(_ range: ClosedRange<Int>) {
            self.range = range
        }

        /// Any number of requests, zero included.
        public static let any = Count(0...Int.max)
        /// Exactly one request.
        public static let once = exactly(1)
        /// No request: a request that the stub matches is refused.
        public static let never = exactly(0)

        /// Creates an exact number. A negative number counts as zero.
        public static func exactly(_ count: Int) -> Count { Count(max(0, count)...max(0, count)) }
        /// Creates a minimum. A negative number counts as zero.
        public static func atLeast(_ count: Int) -> Count { Count(max(0, count)...Int.max) }
        /// Creates a maximum. A negative number counts as zero.
        public static func atMost(_ count: Int) -> Count { Count(0...max(0, count)) }
    }
}

extension Stub.Count: ExpressibleByIntegerLiteral, CustomStringConvertible {
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
