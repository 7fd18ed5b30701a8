extension JSONDocument {
    /// The location of a tape entry in its container.
    struct TapeLocation {
        /// The tape index of the container, or 0 for the top-level value.
        var container: UInt32
        /// The number of an element or member. A name and its value have the same number.
        var ordinal: UInt32
    }

    /// Returns the coding path of a value. The steps are read from ``ErrorState/locations``, from the value to the root.
    func path(to target: Int) -> [any CodingKey] {
        guard target > JSONDocument.root else { return origin.path }
        fillLocations(upTo: target)
        let container = Int(errors.locations[target].container)
        return pathOfContainer(container) + [step(to: target)]
    }

    /// Returns the path of a container. The last path is cached, because many errors may occur in one deep container.
    private func pathOfContainer(_ container: Int) -> [any CodingKey] {
        if let last = errors.lastPath, last.container == container { return last.path }
        let locations = errors.locations
        var entries: [Int] = []
        var entry = container
        while entry > JSONDocument.root {
            entries.append(entry)
            entry = Int(locations[entry].container)
        }
        var path = origin.path
        path.reserveCapacity(path.count + entries.count)
        for entry in entries.reversed() { path.append(step(to: entry)) }
        errors.lastPath = (container, path)
        return path
    }

    private func step(to entry: Int) -> any CodingKey {
        let location = errors.locations[entry]
        let container = Int(location.container)
        guard tape[container].kind == .object else { return JSONPathKey(index: Int(location.ordinal)) }
        return keyTypes.key(pathName(at: entry - 1), number: tape[container + 1].members)
    }

    /// Extends ``ErrorState/locations`` to a tape entry. Each entry is visited once, however many paths are computed.
    private func fillLocations(upTo target: Int) {
        let errors = errors
        if errors.locations.isEmpty {
            errors.locations = Array(repeating: TapeLocation(container: 0, ordinal: 0), count: 2)
        }
        while errors.locations.count <= target {
            let index = errors.locations.count
            // Finds the container of the entry: the entry before it or an ancestor of that.
            var container = index - 1
            var ordinal: UInt32 = 0
            let isContainer = tape[container].kind == .array || tape[container].kind == .object
            if !isContainer || Int(tape[container].next) <= index {
                repeat {
                    ordinal = errors.locations[container].ordinal + (tape[container].kind == .name ? 0 : 1)
                    container = Int(errors.locations[container].container)
                } while Int(tape[container].next) <= index
            }
            errors.locations.append(TapeLocation(container: UInt32(truncatingIfNeeded: container), ordinal: ordinal))
        }
    }

    /// Records the type of an object's keys. The `members` of its first name store the number of the types.
    @inline(__always)
    func setKeyType(_ type: any CodingKey.Type, of object: Int) {
        guard Int(tape[object].next) > object + 1 else { return }
        let name = tape + object + 1
        name.pointee.members = keyTypes.number(of: type, and: name.pointee.members)
        if !orders.isEmpty { beginOrder(of: object) }
        if let last = knownErrors?.lastPath, object <= last.container { knownErrors?.lastPath = nil }
    }

    /// Returns a name for a path. A long name is copied once, however many paths contain it.
    private func pathName(at index: Int) -> String {
        guard tape[index].length > 64 else { return name(at: index) }
        if let known = errors.longNames[index] { return known }
        let name = name(at: index)
        errors.longNames[index] = name
        return name
    }

    /// Removes the names of an object that are about to be converted.
    func forgetLongNames(of object: Int) {
        guard let errors = knownErrors else { return }
        errors.lastPath = nil
        guard !errors.longNames.isEmpty else { return }
        var name = object + 1
        while name < Int(tape[object].next) {
            errors.longNames[name] = nil
            name = after(name + 1)
        }
    }

    /// Returns the decoder for a missing member. It decodes a null, in a separate document with the member's path.
    func missingMember(_ key: any CodingKey, in object: Int) throws -> JSONValueDecoder {
        let origin = Origin(path: path(to: object) + [key], position: wholePosition(at: Int(tape[object].offset)))
        let document = try Array("null".utf8).withUnsafeBytes {
            try JSONDocument($0, decoder: decoder, origin: origin)
        }
        return JSONValueDecoder(document: document, index: JSONDocument.root)
    }

    /// Returns the path of the containers that were open when the parser stopped.
    func openPath(in parser: JSONParser) -> [any CodingKey] {
        var path: [any CodingKey] = []
        var container = parser.container
        var end = parser.count
        while container != 0 {
            var child = container + 1
            var ordinal = 0
            if tape[container].kind == .object {
                var name: Int?
                while child < end {
                    name = child
                    child = child + 1 < end ? after(child + 1) : end
                }
                if let name { path.append(JSONPathKey(stringValue: self.name(at: name))) }
            } else {
                while child < end {
                    child = after(child)
                    ordinal += 1
                }
                path.append(JSONPathKey(index: ordinal))
            }
            end = container
            container = Int(tape[container].next)
        }
        return origin.path + path.reversed()
    }
}
