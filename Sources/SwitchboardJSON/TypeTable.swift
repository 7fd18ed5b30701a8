/// A cache with one property per type. It has 32 slots, and a type uses one of two. The owner frees it.
struct TypeTable<Property: BitwiseCopyable> {
    private let types: UnsafeMutablePointer<ObjectIdentifier?>
    private let properties: UnsafeMutablePointer<Property>

    private static var count: Int { 32 }

    init() {
        types = .allocate(capacity: Self.count)
        types.initialize(repeating: nil, count: Self.count)
        properties = .allocate(capacity: Self.count)
    }

    func deallocate() {
        types.deallocate()
        properties.deallocate()
    }

    @inline(__always)
    func property(of type: Any.Type, _ make: () -> Property) -> Property {
        let identifier = ObjectIdentifier(type)
        let bits = UInt(bitPattern: identifier)
        let first = Int(bitPattern: (bits &>> 4 ^ bits &>> 9) & UInt(Self.count - 1))
        if types[first] == identifier { return properties[first] }
        return otherProperty(of: identifier, first, make)
    }

    @inline(never)
    private func otherProperty(of type: ObjectIdentifier, _ first: Int, _ make: () -> Property) -> Property {
        let second = first ^ 1
        if types[second] == type { return properties[second] }
        let slot = types[first] == nil ? first : second
        let property = make()
        (properties + slot).initialize(to: property)
        types[slot] = type
        return property
    }
}
