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
    /// difference, unless `additionalProperties` is false. Within `allOf` that allows the members of the other parts. A
    /// `writeOnly` member is optional, because only requests have it ([OpenAPI
    /// 3.0](https://spec.openapis.org/oas/v3.0.3#schema-object)).
    ///
    /// All other keywords are ``ignoredKeywords``, except for those that only describe, such as `title`.
    ///
    /// - Parameters:
    ///   - schema: The document, as JSON.
    ///   - pointer: The schema in the document, as a JSON Pointer: `#/components/schemas/Movie`. Default `#`, the whole.
    /// - Throws: `NetworkError.Code.contractFault` for a document that is no schema, for a `$ref` to another document, to a
    ///   name (`$anchor`) or to itself, for a schema that takes too much work, and for a contract that is too large. The
    ///   reason has the JSON Pointer of the fault.
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
///
/// This file has the first step, and `SchemaReader+Shapes.swift` the others.
struct SchemaReader {
    enum Rule {
        case leaf(Leaf)
        case reference(String, from: String)
        case all([Int])
        case any([Int], at: String)
    }

    /// The keywords that apply to one value, without combinations.
    struct Leaf {
        var kinds = Kinds.any
        var strings = StringRule.any
        var members: [JSONName: Int] = [:]
        var required: Set<JSONName> = []
        /// The rule of the members without a property. ``neverLeaf`` if there may be none.
        var others = anyLeaf
        var element: Int?
        /// Whether only requests have the value.
        var isWriteOnly = false

        var restrictsMembers: Bool { others != anyLeaf || !members.isEmpty }
    }

    /// Alternatives, each of which is a sorted list of leaves.
    typealias Alternatives = [[Int]]

    private let document: JSONTree
    private(set) var rules: [Rule] = []
    private var pointers: [ExactText: Int] = [:]
    var expanded: [Int: Alternatives] = [:]
    private(set) var ignored: [String] = []
    private var isIgnored: Set<String> = []
    /// The work so far. A short schema can name the same alternatives many times.
    private var work = 0
    /// The rule that allows every value, and the one that allows none.
    static let anyLeaf = 0, neverLeaf = 1

    init(_ document: JSONTree) {
        self.document = document
        rules = [.leaf(Leaf()), .leaf(Leaf(kinds: []))]
    }

    mutating func rule(at pointer: String, from location: String) throws(NetworkError) -> Int {
        if let known = pointers[ExactText(pointer)] { return known }
        // The fragment is decoded as a whole, and then it is a pointer (RFC 6901 §6).
        let fragment = pointer.dropFirst()
        let path = fragment.removingPercentEncoding ?? String(fragment)
        guard pointer.utf8.first == .numberSign, path.isEmpty || path.utf8.first == .slash else {
            throw .contract("\(shown(location)): \(shown(pointer)) is a name, and only JSON Pointers are read")
        }
        var schema = document
        for part in path.pieces(between: .slash).dropFirst() {
            let name = part.pointerUnescaped
            let next: JSONTree? =
                switch schema {
                case .object(let members): members[JSONName(name)]
                case .array(let elements):
                    // An index has no sign and no leading zero (RFC 6901 §4).
                    Int(name).flatMap { "\($0)" == name && elements.indices.contains($0) ? elements[$0] : nil }
                default: nil
                }
            guard let next else { throw .contract("\(shown(location)): \(shown(pointer)) is not in the document") }
            schema = next
        }
        let rule = try rule(schema, at: pointer, depth: 0)
        pointers[ExactText(pointer)] = rule
        return rule
    }

    private mutating func rule(_ schema: JSONTree, at pointer: String, depth: Int) throws(NetworkError) -> Int {
        if case .bool(let isAny) = schema { return isAny ? Self.anyLeaf : Self.neverLeaf }
        guard depth <= 64 else { throw .contract("\(shown(pointer)): the schema has more than 64 levels") }
        guard !StackSpace.isExhausted else {
            throw .contract("\(shown(pointer)): the schema is nested too deeply for the stack of this thread")
        }
        guard rules.count < Contract.maximumCount else { throw .tooLargeContract }
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
            guard let value = keywords[JSONName(keyword)] else { continue }
            guard case .array(let schemas) = value, !schemas.isEmpty else {
                throw .contract("\(shown(pointer))/\(keyword): expected a list of schemas")
            }
            var parts: [Int] = []
            for (index, schema) in schemas.enumerated() {
                parts.append(try rule(schema, at: "\(pointer)/\(keyword)/\(index)", depth: depth + 1))
            }
            if keyword == "allOf" { all += parts } else { all.append(add(.any(parts, at: "\(pointer)/\(keyword)"))) }
        }
        let whole = all.count == 1 ? all[0] : all.isEmpty ? Self.anyLeaf : add(.all(all))
        guard case .bool(true)? = keywords["nullable"] else { return whole }
        return add(.any([whole, add(.leaf(Leaf(kinds: .null)))], at: pointer))
    }

    private mutating func add(_ rule: Rule) -> Int {
        rules.append(rule)
        return rules.count - 1
    }

    private mutating func leaf(
        _ keywords: [JSONName: JSONTree], at pointer: String, depth: Int
    ) throws(NetworkError) -> Leaf? {
        var leaf = Leaf()
        var isEmpty = true
        var implied: Kinds = []
        for (key, value) in keywords.sorted(by: { $0.key < $1.key }) {
            let keyword = key.text
            try spend(1 + pointer.utf8.count / 64)
            let location = "\(pointer)/\(keyword.pointerEscaped)"
            if keyword == "writeOnly", case .bool(true) = value { (leaf.isWriteOnly, isEmpty) = (true, false) }
            if Self.combinations.contains(keyword) || Self.descriptions.contains(keyword) || keyword.hasPrefix("x-") {
                continue
            }
            isEmpty = false
            switch (keyword, value) {
            case ("type", _): leaf.kinds.formIntersection(try kinds(value, at: location))
            case ("properties", .object(let properties)):
                implied.insert(.object)
                for (name, schema) in properties.sorted(by: { $0.key < $1.key }) {
                    guard name.text.utf8.count <= Contract.maximumName else {
                        throw .contract("\(shown(location)): a name is too long")
                    }
                    let location = "\(location)/\(name.text.pointerEscaped)"
                    leaf.members[name] = try rule(schema, at: location, depth: depth + 1)
                }
            case ("required", .array(let names)):
                implied.insert(.object)
                try spend(names.count)
                for case .string(let name) in names { leaf.required.insert(JSONName(name)) }
            case ("required", .bool): ignore(location)
            case ("additionalProperties", _):
                implied.insert(.object)
                leaf.others = try rule(value, at: location, depth: depth + 1)
            case ("items", .array): ignore(location)
            // It describes only the elements after those of prefixItems.
            case ("items", _) where keywords["prefixItems"] != nil: ignore(location)
            case ("items", _):
                implied.insert(.array)
                leaf.element = try rule(value, at: location, depth: depth + 1)
            case ("enum", .array(let values)): try restrict(&leaf, to: values, at: location)
            case ("const", _): try restrict(&leaf, to: [value], at: location)
            case ("format", .string(let name)):
                if let format = StringFormats.schemaFormat(name) {
                    leaf.strings = leaf.strings.intersection(.formats(format))
                } else {
                    ignore(location)
                }
            case ("properties", _), ("enum", _), ("required", _), ("format", _):
                throw .contract("\(shown(location)): the value of this keyword has another type")
            default: ignore(location)
            }
        }
        // The members of these patterns are no unknown ones.
        if keywords["patternProperties"] != nil { leaf.others = Self.anyLeaf }
        if keywords["type"] == nil, !implied.isEmpty { leaf.kinds.formIntersection(implied) }
        // If there may be no other members, another part of `allOf` may have a required one.
        if leaf.others != Self.neverLeaf {
            for name in leaf.required where leaf.members[name] == nil { leaf.members[name] = leaf.others }
        }
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
        var strings: Set<ExactText> = []
        var hasOthers = false
        try spend(values.count)
        for value in values {
            switch value {
            case .null: kinds.insert(.null)
            case .string(let text):
                kinds.insert(.string)
                strings.insert(ExactText(text))
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

    mutating func spend(_ count: Int) throws(NetworkError) {
        work += count
        guard work <= 1_000_000 else { throw .contract("the schema takes too much work to read") }
    }

    mutating func ignore(_ pointer: String) {
        let pointer = shown(pointer)
        if ignored.count < 1_000, isIgnored.insert(pointer).inserted { ignored.append(pointer) }
    }

    func shown(_ pointer: String) -> String {
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
    /// The name that a part of a JSON Pointer means.
    fileprivate var pointerUnescaped: String {
        replacingOccurrences(of: "~1", with: "/").replacingOccurrences(of: "~0", with: "~")
    }
}
