extension JSONDocument {
    /// A child of a container on the last computed path: its tape index and its ordinal number.
    struct PathStep {
        let container: Int
        let child: Int
        let ordinal: Int
    }

    /// Returns the coding path of a value, found by descending from the root.
    ///
    /// The search in a container resumes at the child of the last path, unless the target is before it.
    func path(to target: Int) -> [any CodingKey] {
        var path = origin.path
        var container = JSONDocument.root
        while container < target, target < after(container) {
            var child = container + 1
            var ordinal = 0
            let depth = path.count - origin.path.count
            if depth < pathSteps.count, pathSteps[depth].container == container, pathSteps[depth].child <= target {
                (child, ordinal) = (pathSteps[depth].child, pathSteps[depth].ordinal)
            }
            let isObject = tape[container].kind == .object
            while true {
                let next = after(isObject ? child + 1 : child)
                if next > target { break }
                child = next
                ordinal += 1
            }
            pathSteps.removeSubrange(min(depth, pathSteps.count)...)
            pathSteps.append(PathStep(container: container, child: child, ordinal: ordinal))
            path.append(isObject ? JSONPathKey(stringValue: name(at: child)) : JSONPathKey(index: ordinal))
            container = isObject ? child + 1 : child
        }
        return path
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
