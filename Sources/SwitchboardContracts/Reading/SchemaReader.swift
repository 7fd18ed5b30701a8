import Foundation
import Switchboard
import SwitchboardJSON
import SwitchboardText

extension Contract {
    /// Reads a [JSON Schema](https://json-schema.org) or a schema of OpenAPI as a contract.
    ///
    /// The contract has `type`, `properties`, `required`, `items`, `enum` and `const` of strings,
    /// `additionalProperties`, `nullable`, formats, `allOf`, and `oneOf` and `anyOf` of different types. Several
    /// alternatives with objects become one object, in which a member is optional unless all require it. A schema with
    /// `properties` or `items` and without `type` is an object or an array. As in a schema, unknown members are no
    /// difference, unless `additionalProperties` is false. Within `allOf` that allows the members of the other parts.
    ///
    /// All other keywords are ``ignoredKeywords``, except for those that only describe, such as `title`.
    ///
    /// - Parameters:
    ///   - schema: The document, as JSON.
    ///   - pointer: The schema in the document, as a JSON Pointer: `#/components/schemas/Movie`. Default `#`, the whole.
    /// - Throws: `NetworkError.Code.contractFault` for a document that is no schema, for a `$ref` to another document or
    ///   to itself, for a schema that takes too much work, and for a contract that is too large. The reason has the JSON
    ///   Pointer of the fault.
    public init(schema: Data, at pointer: String = "#") throws(NetworkError) {
        guard let document = JSONTree(fragment: schema) else { throw .contract("the schema is not JSON") }
        var reader = SchemaReader(document)
        let shapes = try reader.shapes(at: pointer)
        try self.init(shapes: shapes, ignoredKeywords: reader.ignored)
    }
}

/// Turns a schema into shapes.
///
/// 1. Each schema becomes a rule: a leaf, a reference, or rules of which all or any apply.
/// 2. The rules of one key path become alternatives, each of which is a list of leaves that all apply.
/// 3. The alternatives become a shape, and the rules of each member the alternatives of a child.
private struct SchemaReader {
    private enum Rule {
        case leaf(Leaf)
        case reference(String, from: String)
        case all([Int])
        case any([Int], at: String)
    }

    /// The keywords that apply to one value, without combinations.
    private struct Leaf {
        var kinds = Kinds.any
        var strings = StringRule.any
        var members: [String: Int] = [:]
        var required: Set<String> = []
        var others = Others.any
        var element: Int?

        var restrictsMembers: Bool {
            if case .any = others { return !members.isEmpty }
            return true
        }
    }

    /// The members without a property.
    private enum Others {
        case any, none
        case rule(Int)
    }

    /// Alternatives, each of which is a sorted list of leaves.
    private typealias Alternatives = [[Int]]

    private let document: JSONTree
    private var rules: [Rule] = []
    private var pointers: [String: Int] = [:]
    private var expanded: [Int: Alternatives] = [:]
    private(set) var ignored: [String] = []
    private var isIgnored: Set<String> = []
    /// The work so far. A short schema can name the same alternatives many times.
    private var work = 0
    /// The rule that allows every value, and the one that allows none.
    private let anyLeaf = 0, neverLeaf = 1

    init(_ document: JSONTree) {
        self.document = document
        rules = [.leaf(Leaf()), .leaf(Leaf(kinds: []))]
    }

    // MARK: Rules

    /// Returns the rule of a schema.
    private mutating func rule(_ schema: JSONTree, at pointer: String, depth: Int) throws(NetworkError) -> Int {
        guard depth <= 64 else { throw .contract("\(shown(pointer)): the schema has more than 64 levels") }
        guard rules.count < Contract.maximumCount else { throw .tooLargeContract }
        if case .bool(let isAny) = schema { return isAny ? anyLeaf : neverLeaf }
        guard case .object(let keywords) = schema else {
            throw .contract("\(shown(pointer)): expected a schema, which is an object")
        }
        var all: [Int] = []
        if let leaf = try leaf(keywords, at: pointer, depth: depth) { all.append(add(.leaf(leaf))) }
        if let reference = keywords["$ref"] {
            guard case .string(let target) = reference, target.hasPrefix("#") else {
                throw .contract("\(shown(pointer))/$ref: only references to the same document are read")
            }
            all.append(add(.reference(target, from: pointer)))
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            guard let value = keywords[keyword] else { continue }
            guard case .array(let schemas) = value, !schemas.isEmpty else {
                throw .contract("\(shown(pointer))/\(keyword): expected a list of schemas")
            }
            var parts: [Int] = []
            for (index, schema) in schemas.enumerated() {
                parts.append(try rule(schema, at: "\(pointer)/\(keyword)/\(index)", depth: depth + 1))
            }
            if keyword == "allOf" { all += parts } else { all.append(add(.any(parts, at: "\(pointer)/\(keyword)"))) }
        }
        let whole = all.count == 1 ? all[0] : all.isEmpty ? anyLeaf : add(.all(all))
        guard case .bool(true)? = keywords["nullable"] else { return whole }
        return add(.any([whole, add(.leaf(Leaf(kinds: .null)))], at: pointer))
    }

    private mutating func add(_ rule: Rule) -> Int {
        rules.append(rule)
        return rules.count - 1
    }

    /// Returns the keywords that apply to the value itself, or nil without any.
    private mutating func leaf(
        _ keywords: [String: JSONTree], at pointer: String, depth: Int
    ) throws(NetworkError) -> Leaf? {
        var leaf = Leaf()
        var isEmpty = true
        var implied: Kinds = []
        for (keyword, value) in keywords.sorted(by: { $0.key < $1.key }) {
            try spend(1 + pointer.utf8.count / 64)
            let place = "\(pointer)/\(keyword.pointerEscaped)"
            if Self.combinations.contains(keyword) || Self.descriptions.contains(keyword) || keyword.hasPrefix("x-") {
                continue
            }
            isEmpty = false
            switch (keyword, value) {
            case ("type", _): leaf.kinds.formIntersection(try kinds(value, at: place))
            case ("properties", .object(let properties)):
                implied.insert(.object)
                for (name, schema) in properties.sorted(by: { $0.key < $1.key }) {
                    guard name.utf8.count <= 4_096 else { throw .contract("\(shown(place)): a name is too long") }
                    leaf.members[name] = try rule(schema, at: "\(place)/\(name.pointerEscaped)", depth: depth + 1)
                }
            case ("required", .array(let names)):
                implied.insert(.object)
                try spend(names.count)
                for case .string(let name) in names { leaf.required.insert(name) }
            case ("required", .bool): ignore(place)
            case ("additionalProperties", .bool(let isAllowed)):
                implied.insert(.object)
                leaf.others = isAllowed ? .any : .none
            case ("additionalProperties", _):
                implied.insert(.object)
                leaf.others = .rule(try rule(value, at: place, depth: depth + 1))
            case ("items", .array): ignore(place)
            case ("items", _):
                implied.insert(.array)
                leaf.element = try rule(value, at: place, depth: depth + 1)
            case ("enum", .array(let values)): try restrict(&leaf, to: values, at: place)
            case ("const", _): try restrict(&leaf, to: [value], at: place)
            case ("format", .string(let name)):
                if let format = StringFormats.schemaFormat(name) {
                    leaf.strings = leaf.strings.intersection(.formats(format))
                } else {
                    ignore(place)
                }
            case ("properties", _), ("enum", _), ("required", _), ("format", _):
                throw .contract("\(shown(place)): the value of this keyword has another type")
            default: ignore(place)
            }
        }
        // The members of these patterns are no unknown ones.
        if keywords["patternProperties"] != nil { leaf.others = .any }
        if keywords["type"] == nil, !implied.isEmpty { leaf.kinds.formIntersection(implied) }
        let required: Int
        switch leaf.others {
        case .any: required = anyLeaf
        case .none: required = neverLeaf
        case .rule(let rule): required = rule
        }
        for name in leaf.required where leaf.members[name] == nil { leaf.members[name] = required }
        return isEmpty ? nil : leaf
    }

    private func kinds(_ value: JSONTree, at pointer: String) throws(NetworkError) -> Kinds {
        var names: [JSONTree] = [value]
        if case .array(let list) = value { names = list }
        var kinds: Kinds = []
        for name in names {
            guard case .string(let word) = name, let kind = Kinds.words.first(where: { $0.word == word })?.kind else {
                throw .contract("\(shown(pointer)): a type is object, array, string, integer, number, boolean or null")
            }
            kinds.insert(kind)
        }
        return kinds.closed
    }

    /// Restricts a leaf to the kinds of some values, and its strings to those among the values.
    private mutating func restrict(
        _ leaf: inout Leaf, to values: [JSONTree], at pointer: String
    ) throws(NetworkError) {
        var kinds: Kinds = []
        var strings: Set<String> = []
        var hasOthers = false
        try spend(values.count)
        for value in values {
            switch value {
            case .null: kinds.insert(.null)
            case .string(let text):
                kinds.insert(.string)
                strings.insert(text)
            case .bool: (kinds, hasOthers) = (kinds.union(.boolean), true)
            case .number, .double: (kinds, hasOthers) = (kinds.union([.number, .integer]), true)
            case .array: (kinds, hasOthers) = (kinds.union(.array), true)
            case .object: (kinds, hasOthers) = (kinds.union(.object), true)
            }
        }
        guard strings.count <= 1_000 else { throw .contract("\(shown(pointer)): it has more than 1,000 strings") }
        leaf.kinds.formIntersection(kinds)
        if !strings.isEmpty { leaf.strings = leaf.strings.intersection(.anyOf(strings)) }
        if hasOthers { ignore(pointer) }
    }

    private mutating func ignore(_ pointer: String) {
        let pointer = shown(pointer)
        if ignored.count < 1_000, isIgnored.insert(pointer).inserted { ignored.append(pointer) }
    }

    private func shown(_ pointer: String) -> String {
        pointer.unicodeScalars.count <= 200
            ? pointer.lineForMessage : "\(pointer.prefix(200).description.lineForMessage)…"
    }

    /// Keywords that the rules read separately.
    private static let combinations: Set = ["$ref", "allOf", "anyOf", "oneOf", "nullable"]

    /// Keywords that describe a value and allow every one.
    private static let descriptions: Set = [
        "title", "description", "$schema", "$id", "id", "$anchor", "$comment", "$defs", "definitions", "default",
        "example", "examples", "deprecated", "readOnly", "writeOnly", "externalDocs", "xml", "components",
    ]

    // MARK: Alternatives

    /// Returns the rule at a JSON Pointer.
    private mutating func rule(at pointer: String, from place: String) throws(NetworkError) -> Int {
        if let known = pointers[pointer] { return known }
        var schema = document
        for part in pointer.dropFirst().split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            let name = part.pointerUnescaped
            switch schema {
            case .object(let members):
                guard let member = members[name] else {
                    throw .contract("\(shown(place)): \(shown(pointer)) is not in the document")
                }
                schema = member
            case .array(let elements):
                guard let index = Int(name), elements.indices.contains(index) else {
                    throw .contract("\(shown(place)): \(shown(pointer)) is not in the document")
                }
                schema = elements[index]
            default: throw .contract("\(shown(place)): \(shown(pointer)) is not in the document")
            }
        }
        let rule = try rule(schema, at: pointer, depth: 0)
        pointers[pointer] = rule
        return rule
    }

    /// Returns the alternatives of a rule. `path` contains the references that lead to it.
    private mutating func alternatives(
        of number: Int, path: [String] = [], depth: Int = 0
    ) throws(NetworkError) -> Alternatives {
        guard depth < 200 else { throw .contract("more than 200 references and combinations of schemas in a row") }
        if let known = expanded[number] { return known }
        let result: Alternatives
        switch rules[number] {
        case .leaf: result = [[number]]
        case .reference(let pointer, let place):
            guard !path.contains(pointer) else { throw .contract("\(shown(place))/$ref refers to itself") }
            result = try alternatives(of: rule(at: pointer, from: place), path: path + [pointer], depth: depth + 1)
        case .all(let parts): result = try allOf(parts, path, depth + 1)
        case .any(let parts, let place):
            var sum: Alternatives = []
            for part in parts {
                try add(alternatives(of: part, path: path, depth: depth + 1), to: &sum)
            }
            if sum.count(where: { kinds(of: $0).contains(.object) }) > 1 { ignore(place) }
            result = sum
        }
        expanded[number] = result
        return result
    }

    /// Returns the alternatives of rules that all apply.
    private mutating func allOf(
        _ parts: [Int], _ path: [String] = [], _ depth: Int = 0
    ) throws(NetworkError) -> Alternatives {
        var product: Alternatives = [[]]
        for part in parts {
            var next: Alternatives = []
            for other in try alternatives(of: part, path: path, depth: depth) {
                for one in product {
                    try spend(one.count + other.count + next.count)
                    let sum = Set(one).union(other).sorted()
                    if !next.contains(sum) { next.append(sum) }
                }
                try checkCount(next)
            }
            product = next
        }
        return product
    }

    private mutating func add(_ part: Alternatives, to sum: inout Alternatives) throws(NetworkError) {
        for one in part {
            try spend(one.count + sum.count)
            if !sum.contains(one) { sum.append(one) }
        }
        try checkCount(sum)
    }

    private mutating func spend(_ count: Int) throws(NetworkError) {
        work += count
        guard work <= 1_000_000 else { throw .contract("the schema takes too much work to read") }
    }

    private func checkCount(_ alternatives: Alternatives) throws(NetworkError) {
        guard alternatives.count <= 64, alternatives.allSatisfy({ $0.count <= 256 }) else {
            throw .contract("the schema has more than 64 alternatives for one value")
        }
    }

    private func leaves(_ numbers: [Int]) -> [Leaf] {
        numbers.compactMap { if case .leaf(let leaf) = rules[$0] { leaf } else { nil } }
    }

    private func kinds(of numbers: [Int]) -> Kinds {
        leaves(numbers).reduce(Kinds.any) { $0.intersection($1.kinds) }
    }

    // MARK: Shapes

    /// A shape whose parts are alternatives.
    private struct Composite {
        var shape = Shape(kinds: [])
        var members: [(name: String, alternatives: Alternatives, isOptional: Bool)] = []
        var others: Alternatives?
        var element: Alternatives?
    }

    /// Returns the shapes of the schema at a pointer. A value that contains itself refers to the shape around it. So
    /// does any other repeated value, once there are many shapes.
    mutating func shapes(at pointer: String) throws(NetworkError) -> [Shape] {
        guard pointer.hasPrefix("#") else { throw .contract("\(shown(pointer)) is no JSON Pointer that begins with #") }
        var shapes: [Shape] = []
        var keys: [Int] = []
        var parents: [Int] = []
        var depths: [Int] = []
        var known: [Int: Int] = [:]
        var composites: [Composite?] = []
        var all: [Alternatives] = []
        var numbers: [Alternatives: Int] = [:]
        func add(_ alternatives: Alternatives, below parent: Int?) throws(NetworkError) -> Int {
            try spend(alternatives.reduce(1) { $0 + $1.count })
            let key = numbers[alternatives] ?? all.count
            if key == all.count {
                numbers[alternatives] = key
                all.append(alternatives)
                composites.append(nil)
            }
            var ancestor = parent
            while let one = ancestor {
                if keys[one] == key { return one }
                ancestor = one == 0 ? nil : parents[one]
            }
            if shapes.count > 10_000, let one = known[key] { return one }
            shapes.append(Shape(kinds: []))
            keys.append(key)
            parents.append(parent ?? 0)
            depths.append(parent.map { depths[$0] + 1 } ?? 0)
            known[key] = known[key] ?? shapes.count - 1
            return shapes.count - 1
        }
        let top = try alternatives(of: rule(at: pointer, from: "#"))
        _ = try add(top, below: nil)
        var next = 0
        while next < shapes.count {
            guard shapes.count <= Contract.maximumCount else { throw .tooLargeContract }
            guard depths[next] <= 512 else { throw .contract("the schema has values below more than 512 others") }
            if composites[keys[next]] == nil { composites[keys[next]] = try composite(of: all[keys[next]]) }
            guard let composite = composites[keys[next]] else { break }
            shapes[next] = composite.shape
            if let element = composite.element { shapes[next].element = try add(element, below: next) }
            if let others = composite.others { shapes[next].others = try add(others, below: next) }
            for (name, alternatives, isOptional) in composite.members {
                let member = try add(alternatives, below: next)
                shapes[next].members.append(.init(name, member, isOptional: isOptional))
            }
            next += 1
        }
        return shapes
    }

    private mutating func composite(of alternatives: Alternatives) throws(NetworkError) -> Composite {
        var result = Composite()
        var objects: [[Leaf]] = []
        var elements: [Alternatives?] = []
        var strings: StringRule?
        for numbers in alternatives {
            let leaves = leaves(numbers)
            let kinds = kinds(of: numbers)
            result.shape.kinds.formUnion(kinds)
            if kinds.contains(.string) {
                try spend(leaves.reduce(0) { $0 + $1.strings.count })
                let rule = leaves.reduce(StringRule.any) { $0.intersection($1.strings) }
                let all = strings.map { $0.union(rule) } ?? rule
                try spend(all.count)
                guard all.count <= 1_000 else {
                    throw .contract("the schema has more than 1,000 strings for one value")
                }
                strings = all
            }
            if kinds.contains(.object) { objects.append(leaves) }
            if kinds.contains(.array) {
                let rules = leaves.compactMap(\.element)
                elements.append(rules.isEmpty ? nil : try allOf(rules))
            }
        }
        result.shape.strings = strings ?? .any
        if !elements.contains(where: { $0 == nil }) { result.element = try sum(elements.compactMap { $0 }) }
        try addMembers(of: objects, to: &result)
        return result
    }

    private mutating func addMembers(of objects: [[Leaf]], to result: inout Composite) throws(NetworkError) {
        // An object without any rule for its members has no lines.
        guard !objects.isEmpty, objects.allSatisfy({ $0.contains(where: \.restrictsMembers) }) else { return }
        try spend(objects.joined().reduce(0) { $0 + $1.members.count })
        let names = Set(objects.joined().flatMap(\.members.keys))
        try spend(names.count * objects.reduce(0) { $0 + $1.count })
        for name in names.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            var parts: [Alternatives] = []
            var isOptional = false
            for leaves in objects {
                let isKnown = leaves.contains { $0.members[name] != nil }
                if !leaves.contains(where: { $0.required.contains(name) }) { isOptional = true }
                let rules = leaves.compactMap { leaf -> Int? in
                    if let rule = leaf.members[name] { return rule }
                    if case .rule(let rule) = leaf.others { return rule }
                    return nil
                }
                if isKnown || !rules.isEmpty { parts.append(try allOf(rules)) }
            }
            if let sum = try sum(parts) { result.members.append((name, sum, isOptional)) }
        }
        var others: [Alternatives] = []
        for leaves in objects {
            if leaves.contains(where: { if case .none = $0.others { true } else { false } }) { continue }
            let rules = leaves.compactMap { if case .rule(let rule) = $0.others { rule } else { nil } }
            others.append(rules.isEmpty ? [[anyLeaf]] : try allOf(rules))
        }
        // The object must be empty.
        if others.isEmpty, result.members.isEmpty { others = [[[neverLeaf]]] }
        if !others.isEmpty { result.others = try sum(others) }
    }

    private mutating func sum(_ parts: [Alternatives]) throws(NetworkError) -> Alternatives? {
        var sum: Alternatives = []
        for part in parts { try add(part, to: &sum) }
        return sum.isEmpty ? nil : sum
    }
}

extension StringFormats {
    /// Returns the format of a schema's name, or nil for a format that a contract does not check.
    fileprivate static func schemaFormat(_ name: String) -> StringFormats? {
        ["uri": .url, "url": .url][name] ?? words.first { $0.word == name }?.format
    }
}

extension String {
    /// The name as a part of a JSON Pointer.
    fileprivate var pointerEscaped: String {
        utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == .slash })
            ? replacingOccurrences(of: "~", with: "~0").replacingOccurrences(of: "/", with: "~1") : self
    }

    /// The text without line ends.
    fileprivate var lineForMessage: String {
        String(String.UnicodeScalarView(unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
    }
}

extension Substring {
    /// The name that a part of a JSON Pointer in a URL means.
    fileprivate var pointerUnescaped: String {
        (removingPercentEncoding ?? String(self)).replacingOccurrences(of: "~1", with: "/")
            .replacingOccurrences(of: "~0", with: "~")
    }
}
