import Foundation
import Switchboard
import SwitchboardJSON
import SwitchboardText

/// Makes the shapes of a contract from answers. ``Contract`` states the rules.
///
/// It neither recurses nor stores more than a contract may have.
struct ShapeBuilder {
    /// The values at one key path so far.
    fileprivate struct Seen {
        var kinds: Kinds = []
        var objects = 0
        /// The members by name. Names are compared by their bytes (RFC 8259 §8.3).
        var members: [ExactText: Int] = [:]
        /// The number of members whose names are no keys of a map.
        var plainNames = 0
        var others: Int?
        var element: Int?
        var formats: StringFormats = []
        /// Whether a string had no format.
        var hasText = false
        /// The number of occurrences of each string. Nil if they are no set of values.
        var values: [ExactText: Int]?
        /// The number of objects with this member.
        var presences = 0
        /// The number of the last object with this member.
        var lastObject = 0
        var length = 1
        /// The path that this one was merged into.
        var merged: Int?
    }

    private var seen = [Seen()]
    private var objects = 0
    /// The length of all paths.
    private var size = 0

    /// Adds an answer.
    ///
    /// - Throws: `NetworkError.contractFault` for a contract that is too large.
    mutating func add(_ answer: JSONValues) throws(NetworkError) {
        var open: [(value: Int, path: Int)] = []
        record(JSONValues.root, of: answer, at: 0, &open)
        while let (value, path) = open.popLast() {
            let path = current(path)
            let end = answer.after(value)
            var index = value + 1
            if answer.kind(at: value) == .object {
                objects += 1
                seen[path].objects += 1
                while index < end {
                    let member = try member(answer.string(at: index), of: path)
                    record(index + 1, of: answer, at: member, &open)
                    index = answer.after(index + 1)
                }
            } else if index < end {
                if seen[path].element == nil { seen[path].element = try newPath(below: path, 2) }
                guard let element = seen[path].element else { continue }
                while index < end {
                    record(index, of: answer, at: element, &open)
                    index = answer.after(index)
                }
            }
        }
    }

    private mutating func record(
        _ value: Int, of answer: JSONValues, at path: Int, _ open: inout [(value: Int, path: Int)]
    ) {
        let path = current(path)
        switch answer.kind(at: value) {
        case .null: seen[path].kinds.insert(.null)
        case .boolean: seen[path].kinds.insert(.boolean)
        case .number: seen[path].kinds.insert(answer.isInteger(at: value) ? .integer : .number)
        case .string:
            seen[path].kinds.insert(.string)
            answer.withText(at: value) { recordString($0, at: path) }
        case .array, .object:
            seen[path].kinds.insert(answer.kind(at: value) == .array ? .array : .object)
            open.append((value, path))
        }
    }

    private mutating func recordString(_ text: UnsafeBufferPointer<UInt8>, at path: Int) {
        if !seen[path].hasText {
            let format = StringFormats.format(of: text)
            seen[path].formats.formUnion(format)
            seen[path].hasText = format.isEmpty
        }
        guard seen[path].values != nil else { return }
        guard Self.isWord(text) else { return seen[path].values = nil }
        seen[path].values?[ExactText(String(decoding: text, as: UTF8.self)), default: 0] += 1
        forgetTooManyValues(of: path)
    }

    private mutating func forgetTooManyValues(of path: Int) {
        if let values = seen[path].values, values.count > Self.mostValues { seen[path].values = nil }
    }

    // MARK: Paths

    /// Returns the path that a path was merged into, or the path itself.
    private func current(_ path: Int) -> Int {
        var path = path
        while let merged = seen[path].merged { path = merged }
        return path
    }

    private mutating func newPath(below parent: Int, _ length: Int) throws(NetworkError) -> Int {
        var path = Seen()
        path.length = seen[parent].length + length
        size += path.length + 16
        guard size <= Contract.maximumSize, seen.count < Contract.maximumCount else { throw .tooLargeContract }
        seen.append(path)
        return seen.count - 1
    }

    /// Returns the path of a member, and counts the object that has it.
    private mutating func member(_ name: String, of path: Int) throws(NetworkError) -> Int {
        if let others = seen[path].others { return others }
        let member: Int
        if let known = seen[path].members[ExactText(name)] {
            member = known
        } else {
            let isKey = name.isMapKey
            // The length of a key does not matter, because its path becomes that of the map.
            member = try newPath(below: path, isKey ? 2 : name.utf8.count + 3)
            if name.isNameOfChoice, !Redaction.standard.isSecret(member: name) { seen[member].values = [:] }
            seen[path].members[ExactText(name)] = member
            if !isKey { seen[path].plainNames += 1 }
        }
        if seen[member].lastObject != objects {
            seen[member].lastObject = objects
            seen[member].presences += 1
        }
        let count = seen[path].members.count
        guard count > Self.mostNames || count > 16 && seen[path].plainNames == 0 else { return member }
        return makeMap(path)
    }

    // MARK: Maps

    /// Merges all members into one. Returns its path.
    @discardableResult
    private mutating func makeMap(_ path: Int) -> Int {
        // The order does not change the result, but the smallest path has the shortest text.
        let members = seen[path].members.values.sorted()
        let others = seen[path].others ?? members[0]
        seen[path].members = [:]
        seen[path].plainNames = 0
        seen[path].others = others
        for member in members { merge(member, into: others) }
        return current(others)
    }

    private mutating func merge(_ path: Int, into target: Int) {
        var pairs = [(path, target)]
        while let (from, to) = pairs.popLast() {
            let (from, to) = (current(from), current(to))
            guard from != to else { continue }
            let old = seen[from]
            seen[from] = Seen()
            seen[from].merged = to
            seen[to].kinds.formUnion(old.kinds)
            seen[to].objects += old.objects
            seen[to].formats.formUnion(old.formats)
            seen[to].hasText = seen[to].hasText || old.hasText
            seen[to].values = seen[to].values.flatMap { mine in old.values.map { mine.merging($0, uniquingKeysWith: +) }
            }
            forgetTooManyValues(of: to)
            if let element = old.element {
                if let mine = seen[to].element { pairs.append((element, mine)) } else { seen[to].element = element }
            }
            for (name, member) in old.members {
                if let mine = seen[to].others {
                    pairs.append((member, mine))
                } else if let mine = seen[to].members[name] {
                    seen[current(mine)].presences += seen[current(member)].presences
                    pairs.append((member, mine))
                } else {
                    seen[to].members[name] = member
                    if !name.text.isMapKey { seen[to].plainNames += 1 }
                }
            }
            guard let others = old.others else { continue }
            if let mine = seen[to].others {
                pairs.append((others, mine))
            } else {
                seen[to].others = others
                pairs += seen[to].members.values.map { ($0, others) }
                seen[to].members = [:]
            }
        }
    }

    /// Returns whether the members have the names of a map's keys, or are many of one kind.
    private func isMap(_ path: Int) -> Bool {
        let members = seen[path].members
        if members.isEmpty { return false }
        if seen[path].plainNames == 0 || members.count > Self.mostNames { return true }
        guard members.count > 64 else { return false }
        let kinds = members.values.reduce(into: Kinds()) { $0.formUnion(seen[current($1)].kinds) }.closed
        return kinds.subtracting(.null).closed.isOneKind
    }

    // MARK: Shapes

    mutating func shapes() -> [Shape] {
        var shapes = [Shape(kinds: [])]
        var queue = [(path: 0, shape: 0)]
        func add(_ path: Int) -> Int {
            shapes.append(Shape(kinds: []))
            queue.append((path, shapes.count - 1))
            return shapes.count - 1
        }
        var next = 0
        while next < queue.count {
            let (index, shape) = queue[next]
            next += 1
            let path = current(index)
            if isMap(path) { makeMap(path) }
            let seen = seen[path]
            shapes[shape].kinds = seen.kinds.closed
            shapes[shape].strings = seen.strings
            if let others = seen.others { shapes[shape].others = add(others) }
            if let element = seen.element { shapes[shape].element = add(element) }
            for (name, member) in seen.members.sorted(by: {
                $0.key.text.utf8.lexicographicallyPrecedes($1.key.text.utf8)
            }) {
                let isOptional = self.seen[current(member)].presences < seen.objects
                let member = add(member)
                shapes[shape].members.append(.init(name.text, member, isOptional: isOptional))
            }
        }
        return shapes
    }

    private static let mostNames = 1_000
    fileprivate static let mostValues = 8

    private static func isWord(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        text.count <= 32 && text.contains { $0 | 0x20 >= UInt8(ascii: "a") && $0 | 0x20 <= UInt8(ascii: "z") }
            && text.allSatisfy(ASCIISet.word.contains)
    }
}

extension ShapeBuilder.Seen {
    /// The rule for the strings, by their formats and by how often each occurred.
    fileprivate var strings: StringRule {
        guard hasText else { return formats.isEmpty ? .any : .formats(formats) }
        guard let values, (2...ShapeBuilder.mostValues).contains(values.count), values.values.allSatisfy({ $0 >= 3 }),
            values.values.reduce(0, +) >= 12
        else { return .any }
        return .anyOf(Set(values.keys))
    }
}

extension Kinds {
    fileprivate var isOneKind: Bool {
        let kinds = contains(.number) ? subtracting(.integer) : self
        return kinds.rawValue.nonzeroBitCount == 1
    }
}

extension String {
    /// Whether the name is probably that of a string with few possible values: its last word is such as `type`.
    fileprivate var isNameOfChoice: Bool {
        let start = lastIndex { $0 == "_" || $0 == "-" || $0.isUppercase } ?? startIndex
        return Self.choices.contains(self[start...].drop { $0 == "_" || $0 == "-" }.lowercased())
    }

    private static let choices: Set = [
        "action", "category", "event", "kind", "level", "mode", "phase", "priority", "reason", "result", "role",
        "severity", "stage", "state", "status", "type", "visibility",
    ]

    /// Whether the name is probably the key of a map, such as an identifier.
    var isMapKey: Bool {
        var name = self
        return name.withUTF8 { bytes in
            if bytes.count > 256 { return true }
            if !bytes.isEmpty, bytes.allSatisfy(\.isDigit) { return true }
            if bytes.count >= 8, bytes.allSatisfy(\.isHexadecimal), bytes.contains(where: \.isDigit) { return true }
            return StringFormats([.date, .dateTime, .uuid, .email]).matches(bytes)
        }
    }
}

extension ASCIISet {
    fileprivate static let word = alphanumerics.union(ASCIISet("_-./ "))
}
