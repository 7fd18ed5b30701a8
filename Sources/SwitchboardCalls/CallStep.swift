import Foundation
import Switchboard

/// One step of a ``NetworkCall``, and those before it: run and let go of in loops, so that no number of steps overflows the
/// stack.
final class CallStep: @unchecked Sendable {  // `before` changes in `deinit` alone
    enum Work: Sendable {
        /// Makes a value of the one before.
        case after(@Sendable (any Sendable) async throws -> any Sendable)
        /// Makes a value by itself, and runs the steps before where it wants.
        case around(@Sendable (CallStep?) async throws -> any Sendable)
    }

    private let work: Work
    private var before: CallStep?

    init(_ work: Work, after before: CallStep? = nil) {
        self.work = work
        self.before = before
    }

    deinit {
        var next = before
        before = nil
        // A step that nobody else holds gives up the one before it first.
        while next != nil, isKnownUniquelyReferenced(&next) {
            let following = next?.before
            next?.before = nil
            next = following
        }
    }

    /// The value of the last step.
    func value() async throws -> any Sendable {
        var following: [@Sendable (any Sendable) async throws -> any Sendable] = []
        var step: CallStep? = self
        while let current = step {
            switch current.work {
            case .after(let make):
                following.append(make)
                step = current.before
            case .around(let make):
                var value = try await make(current.before)
                while let make = following.popLast() { value = try await make(value) }
                return value
            }
        }
        throw NetworkError(.unknown, reason: "a call has no first step")
    }
}
