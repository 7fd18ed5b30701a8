import SwitchboardPlatform
import Foundation
import Switchboard

/// The stubs of one mock, and the requests that they answered or refused.
final class StubRegistry: Sendable {
    private struct State: Sendable {
        var stubs: [Stub] = []
        /// The stub that answered each call, in order.
        var calls: [Stub] = []
        var unmatched: [String] = []
    }

    private let state = Protected(State())

    var isEmpty: Bool { state.withLock { $0.stubs.isEmpty } }

    func add(_ stub: Stub) {
        state.withLock { $0.stubs.append(stub) }
    }

    /// Returns the answer of the newest stub that matches and is not used up, or nil without one, or if it expects no
    /// request.
    func answer(to request: RecordedRequest) throws -> MockResponse? {
        while let stub = stub(for: request), stub.times != .never {
            // Another request may have used it up meanwhile.
            guard let answer = stub.takeAnswer(to: request) else { continue }
            state.withLock { $0.calls.append(stub) }
            do {
                return try answer()
            } catch {
                recordError(error, "the closure of \(stub.matcher)")
                throw error
            }
        }
        return nil
    }

    /// Returns whether the newest stub that matches and is not used up expects no request, so that nothing else may
    /// answer it.
    func refuses(_ request: RecordedRequest) -> Bool {
        // Most mocks have no such stub, and then no matcher runs.
        state.withLock { $0.stubs }.contains { $0.times == .never } && stub(for: request)?.times == .never
    }

    private func stub(for request: RecordedRequest) -> Stub? {
        let stubs = state.withLock { $0.stubs }
        return stubs.last { ($0.times == .never || !$0.isUsedUp) && $0.matcher.matches(request) }
    }

    /// Records an error of a closure that is neither `NetworkError` nor `CancellationError`.
    func recordError(_ error: any Error, _ closure: String) {
        guard !(error is NetworkError), !(error is CancellationError) else { return }
        state.withLock { $0.unmatched.append("\(closure) threw \(error)") }
    }

    /// Records a request that nothing answers. Returns a message with the nearest stubs.
    func recordUnmatched(_ request: RecordedRequest, _ shown: String) -> String {
        let stubs = state.withLock { $0.stubs }
        let text =
            stubs.isEmpty
            ? "nothing left to answer \(shown)" : "no stub answers \(shown)" + Self.nearest(to: request, of: stubs)
        state.withLock { $0.unmatched.append(text) }
        return text
    }

    /// Returns the three stubs with the fewest differences, newest first, one per line.
    private static func nearest(to request: RecordedRequest, of stubs: [Stub]) -> String {
        let ranked = stubs.enumerated().map { (age: -$0, stub: $1, differences: $1.matcher.differences(request)) }
            .sorted { ($0.differences.count, $0.age) < ($1.differences.count, $1.age) }.prefix(3)
        let lines = ranked.map { _, stub, differences in
            let why =
                differences.isEmpty
                ? stub.times == .never ? "expects no request" : "used up, expected \(stub.times)"
                : differences.joined(separator: "; ")
            return "\n  nearest: \(stub.matcher): \(why)"
        }
        return lines.joined()
    }

    var faults: [String] {
        let state = state.withLock { $0 }
        return state.unmatched + state.stubs.compactMap(\.fault)
    }

    /// Returns a message when these stubs answered in another order, ignoring all other stubs, or nil when the order is
    /// right.
    func fault(inOrder wanted: [Stub]) -> String? {
        let ids = Set(wanted.map(ObjectIdentifier.init))
        let calls = state.withLock { $0.calls }.filter { ids.contains(ObjectIdentifier($0)) }
        guard !calls.elementsEqual(wanted, by: ===) else { return nil }
        func list(_ stubs: [Stub]) -> String {
            stubs.isEmpty ? "\n  nothing" : stubs.map { "\n  \($0.matcher)" }.joined()
        }
        return "the order was:\(list(calls))\nexpected:\(list(wanted))"
    }
}
