import Foundation
import Switchboard
import SwitchboardPlatform

/// Creates a protocol class for each owner of URLSessions, because URLSession identifies a protocol by its class.
///
/// The classes are instances of one generic class, created at run time. Swift never frees them. They are not reused
/// for another owner, so a configuration that outlives its owner reaches no other one. One class takes about a
/// kilobyte.
final class ProtocolClasses: Sendable {
    static let shared = ProtocolClasses()

    private struct Entry {
        weak var owner: (any AnyObject & Sendable)?
        let number: Int
    }

    private struct State {
        var count = 0
        /// The entries by class.
        var entries: [ObjectIdentifier: Entry] = [:]
        /// The classes by owner. An owner that was deallocated may have the identifier of another one.
        var classes: [ObjectIdentifier: ObjectIdentifier] = [:]
        /// The number of entries at which those of deallocated owners are removed.
        var limit = 64

        func entry(of owner: AnyObject) -> Entry? {
            classes[ObjectIdentifier(owner)].flatMap { entries[$0] }.flatMap { $0.owner === owner ? $0 : nil }
        }

        mutating func removeDeallocated() {
            guard entries.count >= limit else { return }
            entries = entries.filter { $0.value.owner != nil }
            classes = classes.filter { entries[$0.value] != nil }
            limit = max(64, 2 * entries.count)
        }
    }

    private let state = Protected(State())

    /// Returns the class of an owner, the same on each call.
    func ownClass<Owner: AnyObject & Sendable>(of owner: Owner) -> AnyClass {
        let number = state.withLock { state in
            if let entry = state.entry(of: owner) { return entry.number }
            state.removeDeallocated()
            state.count += 1
            let ownClass = ObjectIdentifier(Self.makeClass(state.count, Owner.self))
            state.entries[ownClass] = Entry(owner: owner, number: state.count)
            state.classes[ObjectIdentifier(owner)] = ownClass
            return state.count
        }
        return Self.makeClass(number, Owner.self)
    }

    /// Returns the owner of a class, or nil after it was deallocated.
    func owner(of protocolClass: AnyClass) -> (any URLSessionOwner)? {
        let owner = state.withLock { $0.entries[ObjectIdentifier(protocolClass)]?.owner }
        if let owner = owner as? any URLSessionOwner { return owner }
        return (owner as? any NetworkSession).map(SessionOwner.init)
    }

    private static func makeClass<Owner>(_ number: Int, _ owner: Owner.Type) -> AnyClass {
        makeClass(number, owner, Never.self)
    }

    /// Returns a class for each number above zero. The number's binary digits are types nested in types.
    private static func makeClass<Owner, Digits>(
        _ number: Int, _ owner: Owner.Type, _ digits: Digits.Type
    ) -> AnyClass {
        guard number > 0 else { return ChainURLProtocolOf<Owner, Digits>.self }
        return number & 1 == 0
            ? makeClass(number >> 1, owner, Zero<Digits>.self) : makeClass(number >> 1, owner, One<Digits>.self)
    }
}

private enum Zero<Digits> {}
private enum One<Digits> {}

/// The protocol of one owner. The digits make each class unique.
private final class ChainURLProtocolOf<Owner, Digits>: ChainURLProtocol {
    override class var ownerName: String { "\(Owner.self)" }
}
