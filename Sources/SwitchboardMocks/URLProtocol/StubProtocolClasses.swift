import SwitchboardPlatform
import Foundation
import Switchboard

/// Creates a protocol class for each stub, because URLSession identifies a protocol by its class.
///
/// The classes are instances of one generic class, created at run time. Swift never frees them. They are not reused
/// for another stub, so a configuration that outlives its stub reaches no stub. One class takes about a kilobyte.
final class StubProtocolClasses: Sendable {
    static let shared = StubProtocolClasses()

    private struct Entry {
        weak var stub: StubSession?
        let number: Int
    }

    private struct State {
        var count = 0
        /// The entries by class.
        var entries: [ObjectIdentifier: Entry] = [:]
    }

    private let state = Protected(State())

    /// Returns the class of a stub, the same on each call.
    func ownClass(of stub: StubSession) -> AnyClass {
        let number = state.withLock { state in
            if let entry = state.entries.values.first(where: { $0.stub === stub }) { return entry.number }
            state.entries = state.entries.filter { $0.value.stub != nil }
            state.count += 1
            state.entries[ObjectIdentifier(Self.makeClass(state.count))] = Entry(stub: stub, number: state.count)
            return state.count
        }
        return Self.makeClass(number)
    }

    /// Returns the stub of a class, or nil after it was deallocated.
    func stub(of protocolClass: AnyClass) -> StubSession? {
        state.withLock { $0.entries[ObjectIdentifier(protocolClass)]?.stub }
    }

    private static func makeClass(_ number: Int) -> AnyClass {
        makeClass(number, Never.self)
    }

    /// Returns a class for each number above zero. The number's binary digits are types nested in types.
    private static func makeClass<Digits>(_ number: Int, _ digits: Digits.Type) -> AnyClass {
        guard number > 0 else { return StubURLProtocolOf<Digits>.self }
        return number & 1 == 0
            ? makeClass(number >> 1, Zero<Digits>.self) : makeClass(number >> 1, One<Digits>.self)
    }
}

private enum Zero<Digits> {}
private enum One<Digits> {}

/// The protocol of one stub. The parameter makes each class unique.
private final class StubURLProtocolOf<Digits>: StubURLProtocol {}
