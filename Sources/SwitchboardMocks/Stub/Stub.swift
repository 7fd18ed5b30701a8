import SwitchboardPlatform
import Foundation
import Switchboard

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
    enum Answer: Sendable {
        case queue(ResponseQueue)
        case closure(@Sendable (RecordedRequest) throws -> MockResponse)
    }

    private struct State: Sendable {
        var answer: Answer
        var requests: [RecordedRequest] = []
    }

    /// The conditions for a request.
    public let matcher: RequestMatcher
    /// The number of requests that the stub expects, and the most that it answers.
    public let times: CallCount
    private let state: Protected<State>

    init(_ matcher: RequestMatcher, times: CallCount, answer: Answer) {
        self.matcher = matcher
        self.times = times
        state = Protected(State(answer: answer))
    }

    /// The requests that the stub answered, in order.
    public var requests: [RecordedRequest] { state.withLock { $0.requests } }

    /// The number of requests that the stub answered.
    public var count: Int { state.withLock { $0.requests.count } }

    /// Takes the answer to a request that matches, or returns nil once the stub is used up.
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

    /// The message of a failed verification, or nil when the number of requests is the expected one.
    var fault: String? {
        let count = count
        guard !times.range.contains(count) else { return nil }
        return "\(matcher): asked \(count) time\(count == 1 ? "" : "s"), expected \(times)"
    }
}

extension Stub: CustomStringConvertible {
    /// The conditions, and the number of requests answered and expected.
    public var description: String { "\(matcher) (asked \(count), expected \(times))" }
}

extension ResponseQueue {
    /// The number of requests that the responses answer. A response without limit counts once.
    var length: Int { all.reduce(0) { $0 + ($1.repeats ?? 1) } }

    /// Takes the next response. The last one stays in the queue.
    fileprivate mutating func nextKeepingLast() -> MockResponse? {
        if all.count == 1, first?.repeats ?? 1 == 1 { return first }
        return next()
    }
}
