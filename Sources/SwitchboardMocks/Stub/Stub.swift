import SwitchboardPlatform
import Foundation
import Switchboard

/// An answer, for the requests that match. Made by ``StubAnswering/stub(_:times:with:)-(RequestMatcher,_,_)``; it tells what came.
///
/// ```swift
/// let rating = session.stub(.post("rating"), times: 1, with: .status(201))
/// ...
/// #expect(rating.requests.first?.text == #"{"value":5}"#)
/// ```
public final class Stub: Sendable {
    enum Answer: Sendable {
        case queue(ResponseQueue)
        case closure(@Sendable (RecordedRequest) throws -> MockResponse)
    }

    private struct State: Sendable {
        var answer: Answer
        var requests: [RecordedRequest] = []
    }

    /// What a request must be like.
    public let matcher: RequestMatcher
    /// How often it should be asked.
    public let times: CallCount
    private let state: Protected<State>

    init(_ matcher: RequestMatcher, times: CallCount, answer: Answer) {
        self.matcher = matcher
        self.times = times
        state = Protected(State(answer: answer))
    }

    /// The requests that it answered, in order.
    public var requests: [RecordedRequest] { state.withLock { $0.requests } }

    /// How many requests it answered.
    public var count: Int { state.withLock { $0.requests.count } }

    /// What answers a request that it matches; nil once it is used up.
    func claim(_ request: RecordedRequest) -> (() throws -> MockResponse)? {
        state.withLock { state -> (() throws -> MockResponse)? in
            guard state.requests.count < times.range.upperBound else { return nil }
            state.requests.append(request)
            switch state.answer {
            case .closure(let closure): return { try closure(request) }
            case .queue(var queue):
                let response = queue.nextKeepingLast()
                state.answer = .queue(queue)
                return { response ?? .status(200) }
            }
        }
    }

    /// What verifying fails with; nil when it was asked as often as it should be.
    var fault: String? {
        let count = count
        guard !times.range.contains(count) else { return nil }
        return "\(matcher): asked \(count) time\(count == 1 ? "" : "s"), expected \(times)"
    }
}

extension Stub: CustomStringConvertible {
    /// What it matches, and how often it was asked.
    public var description: String { "\(matcher) (asked \(count), expected \(times))" }
}

extension ResponseQueue {
    /// How many requests the responses answer; those without limit count once.
    var length: Int { all.reduce(0) { $0 + ($1.repeats ?? 1) } }

    /// The next response; the last one stays.
    fileprivate mutating func nextKeepingLast() -> MockResponse? {
        if all.count == 1, first?.repeats ?? 1 == 1 { return first }
        return next()
    }
}
