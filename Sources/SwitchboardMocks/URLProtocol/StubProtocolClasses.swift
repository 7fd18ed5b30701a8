import SwitchboardPlatform
import Foundation
import Switchboard

/// The class of each stub: URLSession is told of a protocol by its class alone, so every stub needs one of its own.
///
/// The classes are instances of one generic class, made at run time. They are never freed, by Swift, and not used again
/// for another stub, so that a configuration that outlives its stub reaches nobody. One takes about a kilobyte.
final class StubProtocolClasses: Sendable {
    static let shared = StubProtocolClasses()

    private struct Entry {
        weak var stub: StubSession?
        let number: Int
    }

    private struct State {
        var count = 0
        /// By the class.
        var entries: [ObjectIdentifier: Entry] = [:]
        /// The class by the stub, for as long as that is there: its place in memory is used again afterwards.
        var classes: [ObjectIdentifier: ObjectIdentifier] = [:]
        /// How many entries there may be before those of stubs that are gone are looked for.
        var capacity = 64

        mutating func forgetThoseGone() {
            entries = entries.filter { $0.value.stub != nil }
            classes = classes.filter { entries[$0.value] != nil }
            capacity = max(64, 2 * entries.count)
        }
    }

    private let state = Protected(State())

    /// The class of a stub, the same on each call.
    func ownClass(of stub: StubSession) -> AnyClass {
        let number = state.withLock { state in
            if let known = state.classes[ObjectIdentifier(stub)], let entry = state.entries[known], entry.stub === stub
            {
                return entry.number
            }
            state.count += 1
            let protocolClass = ObjectIdentifier(Self.makeClass(state.count))
            state.entries[protocolClass] = Entry(stub: stub, number: state.count)
            state.classes[ObjectIdentifier(stub)] = protocolClass
            if state.entries.count > state.capacity { state.forgetThoseGone() }
            return state.count
        }
        return Self.makeClass(number)
    }

    /// The stub of a class; nil when it is gone.
    func stub(of protocolClass: AnyClass) -> StubSession? {
        state.withLock { $0.entries[ObjectIdentifier(protocolClass)]?.stub }
    }

    private static func makeClass(_ number: Int) -> AnyClass {
        makeClass(number, Never.self)
    }

    /// A class for each number above zero: its binary digits are types within types.
    private static func makeClass<Digits>(_ number: Int, _ digits: Digits.Type) -> AnyClass {
        guard number > 0 else { return StubURLProtocolOf<Digits>.self }
        return number & 1 == 0
            ? makeClass(number >> 1, Zero<Digits>.self) : makeClass(number >> 1, One<Digits>.self)
    }
}

private enum Zero<Digits> {}
private enum One<Digits> {}

/// The protocol of one stub; the parameter makes it a class of its own.
private final class StubURLProtocolOf<Digits>: StubURLProtocol {}
