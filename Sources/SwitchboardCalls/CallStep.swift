import Foundation
import Switchboard

/// One step of a ``NetworkCall``, linked to the steps before it. A long chain does not overflow the stack: a loop runs
/// the steps, and the compiler releases a chain of objects in a loop.
final class CallStep: Sendable {
    enum Work: Sendable {
        /// Makes a value from the previous step's value.
        case after(@Sendable (any Sendable) async throws -> any Sendable)
        /// Makes a value by itself, and may run the previous steps within.
        case around(@Sendable (CallStep?) async throws -> any Sendable)
    }

    private let work: Work
    private let previous: CallStep?

    init(_ work: Work, after previous: CallStep? = nil) {
        self.work = work
        self.previous = previous
    }

    /// Returns the value of the last step.
    func value() async throws -> any Sendable {
        var following: [@Sendable (any Sendable) async throws -> any Sendable] = []
        var step: CallStep? = self
        while let current = step {
            switch current.work {
            case .after(let make):
                following.append(make)
                step = current.previous
            case .around(let make):
                var value = try await make(current.previous)
                while let make = following.popLast() { value = try await make(value) }
                return value
            }
        }
        throw NetworkError(.unknown, reason: "a call has no first step")
    }
}
