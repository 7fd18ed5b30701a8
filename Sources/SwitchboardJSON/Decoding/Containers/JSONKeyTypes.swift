/// The types of the keys with which objects were decoded. Coding paths consist of keys of these types.
struct JSONKeyTypes {
    /// A type, and the number of the older types of the same object, or 0.
    private struct Entry {
        let type: any CodingKey.Type
        let rest: UInt16
    }

    private struct Key: Hashable {
        let type: ObjectIdentifier
        let rest: UInt16
    }

    private var entries: [Entry] = []
    /// The numbers of the entries after the first few, which are searched in order.
    private var numbers: [Key: UInt16] = [:]
    private var last = (key: Key(type: ObjectIdentifier(JSONPathKey.self), rest: .max), number: UInt16(0))

    private static let fewEntries = 16

    /// Returns a number for the types of an object: `type`, and those with the number `rest`.
    @inline(__always)
    mutating func number(of type: any CodingKey.Type, and rest: UInt16) -> UInt16 {
        last.key.type == ObjectIdentifier(type) && last.key.rest == rest ? last.number : find(type, and: rest)
    }

    @inline(never)
    private mutating func find(_ type: any CodingKey.Type, and rest: UInt16) -> UInt16 {
        let key = Key(type: ObjectIdentifier(type), rest: rest)
        last = (key, contains(key.type, in: rest) ? rest : search(key) ?? add(type, key))
        return last.number
    }

    private func contains(_ type: ObjectIdentifier, in number: UInt16) -> Bool {
        var number = number
        while number > 0 {
            let entry = entries[Int(number) - 1]
            if ObjectIdentifier(entry.type) == type { return true }
            number = entry.rest
        }
        return false
    }

    private func search(_ key: Key) -> UInt16? {
        for index in 0..<min(entries.count, Self.fewEntries) where entries[index].rest == key.rest {
            if ObjectIdentifier(entries[index].type) == key.type { return UInt16(truncatingIfNeeded: index + 1) }
        }
        return entries.count > Self.fewEntries ? numbers[key] : nil
    }

    private mutating func add(_ type: any CodingKey.Type, _ key: Key) -> UInt16 {
        // A program with more types of keys gets paths with keys of `JSONPathKey`.
        guard entries.count < Int(UInt16.max) else { return key.rest }
        if entries.isEmpty { entries.reserveCapacity(8) }
        entries.append(Entry(type: type, rest: key.rest))
        let number = UInt16(truncatingIfNeeded: entries.count)
        if entries.count > Self.fewEntries { numbers[key] = number }
        return number
    }

    /// Returns the key of an object's member, in the most recent key type that has one.
    func key(_ name: String, number: UInt16) -> any CodingKey {
        var number = number
        while number > 0 {
            let entry = entries[Int(number) - 1]
            if let key = entry.type.init(stringValue: name) { return key }
            number = entry.rest
        }
        return JSONPathKey(stringValue: name)
    }
}
