/// The order in which a type looks up the members of its objects.
///
/// It is learned when the members of an object are in another order. It only predicts the next name, which is compared
/// as any other.
struct JSONMemberOrder {
    /// The object whose members are being looked up.
    fileprivate var object = 0
    /// The number of members of the object, at most `most`.
    fileprivate var count = 0
    /// The number of look-ups in the object.
    fileprivate var lookups = 0
    /// The tape indices of the names of the object.
    fileprivate let names: UnsafeMutablePointer<UInt32>
    /// The number of the member of each look-up in the last object.
    fileprivate let members: UnsafeMutablePointer<Int>

    /// Larger objects are indexed when a name is not the expected one.
    fileprivate static var most: Int { JSONDocument.smallObject }

    fileprivate init() {
        names = .allocate(capacity: Self.most)
        members = .allocate(capacity: Self.most)
        // At first the expected order is that of the text.
        for lookup in 0..<Self.most { members[lookup] = lookup }
    }

    func deallocate() {
        names.deallocate()
        members.deallocate()
    }
}

extension JSONDocument {
    /// Begins to learn the order of the type that looks up the members of an object.
    @inline(never)
    func learnOrder(of object: Int) {
        let type = Int(tape[object + 1].members)
        while orders.count <= type { orders.append(nil) }
        guard orders[type] == nil else { return }
        let order = UnsafeMutablePointer<JSONMemberOrder>.allocate(capacity: 1)
        order.initialize(to: JSONMemberOrder())
        orders[type] = order
    }

    /// Begins the look-ups of a container.
    @inline(never)
    func beginOrder(of object: Int) {
        let type = Int(tape[object + 1].members)
        guard type < orders.count, let order = orders[type],
            tape[object].flags.isDisjoint(with: [.repeatedNames, .ordered]),
            Int(tape[object].members) <= JSONMemberOrder.most
        else { return }
        tape[object].flags.insert(.ordered)
        order.pointee.object = object
        order.pointee.count = Int(tape[object].members)
        order.pointee.lookups = 0
        var name = object + 1
        for member in 0..<order.pointee.count {
            order.pointee.names[member] = UInt32(truncatingIfNeeded: name)
            name = after(name + 1)
        }
        expectNext(order, in: object)
    }

    /// Expects the member of the next look-up after that of a look-up was found where it was expected.
    @inline(never)
    func foundExpected(_ name: Int, in object: Int) {
        guard let order = order(of: object) else { return expect(after(name + 1), in: object) }
        order.pointee.lookups += 1
        expectNext(order, in: object)
    }

    /// Finds a member whose name is not the expected one.
    @inline(never)
    func searchUnexpected(_ name: UnsafeBufferPointer<UInt8>, in object: Int) -> Int {
        guard let order = order(of: object) else {
            guard let found = scan(for: name, from: object + 1, to: Int(tape[object].next)) else { return 0 }
            expect(after(found), in: object)
            return found
        }
        let found = (0..<order.pointee.count).first { matches(Int(order.pointee.names[$0]), name) }
        let lookup = order.pointee.lookups
        if lookup < JSONMemberOrder.most { order.pointee.members[lookup] = found ?? JSONMemberOrder.most }
        order.pointee.lookups += 1
        expectNext(order, in: object)
        return found.map { Int(order.pointee.names[$0]) + 1 } ?? 0
    }

    /// Returns the order for an object, or nil after the look-ups in another object of its type began.
    @inline(__always)
    private func order(of object: Int) -> UnsafeMutablePointer<JSONMemberOrder>? {
        let type = Int(tape[object + 1].members)
        guard type < orders.count, let order = orders[type], order.pointee.object == object else { return nil }
        return order
    }

    @inline(__always)
    private func expectNext(_ order: UnsafeMutablePointer<JSONMemberOrder>, in object: Int) {
        let lookup = order.pointee.lookups
        let next = lookup < JSONMemberOrder.most ? order.pointee.members[lookup] : JSONMemberOrder.most
        tape[object].length = next < order.pointee.count ? order.pointee.names[next] : tape[object].next
    }
}
