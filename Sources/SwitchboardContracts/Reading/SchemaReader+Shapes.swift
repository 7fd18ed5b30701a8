import Foundation
import Switchboard
import SwitchboardJSON

extension SchemaReader {
    /// Returns the alternatives of a rule. `path` contains the references that lead to it.
    private mutating func alternatives(
        of number: Int, path: [String] = [], depth: Int = 0
    ) throws(NetworkError) -> Alternatives {
        guard depth < 200 else { throw .contract("more than 200 references and combinations of schemas in a row") }
        guard !StackSpace.isExhausted else {
            throw .contract("too many references and combinations of schemas in a row for the stack of this thread")
        }
        if let known = expanded[number] { return known }
        let result: Alternatives
        switch rules[number] {
        case .leaf: result = [[number]]
        case .reference(let pointer, let location):
            guard !path.contains(pointer) else { throw .contract("\(shown(location))/$ref refers to itself") }
            result = try alternatives(of: rule(at: pointer, from: location), path: path + [pointer], depth: depth + 1)
        case .all(let parts): result = try allOf(parts, path, depth + 1)
        case .any(let parts, let location):
            var sum: Alternatives = []
            for part in parts {
                try add(alternatives(of: part, path: path, depth: depth + 1), to: &sum)
            }
            if sum.count(where: { kinds(of: $0).contains(.object) }) > 1 { ignore(location) }
            result = sum
        }
        expanded[number] = result
        return result
    }

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

    private func checkCount(_ alternatives: Alternatives) throws(NetworkError) {
        guard alternatives.count <= 512, alternatives.allSatisfy({ $0.count <= 256 }) else {
            throw .contract("the schema has more than 512 alternatives for one value")
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
        var members: [(name: JSONName, alternatives: Alternatives, isOptional: Bool)] = []
        var others: Alternatives?
        var element: Alternatives?

        var isLeaf: Bool { members.isEmpty && others == nil && element == nil }
    }

    /// Returns the shapes of the schema at a pointer. A value that contains itself refers to the shape around it. So
    /// does any other repeated value with parts, once there are many shapes.
    mutating func shapes(at pointer: String) throws(NetworkError) -> [Shape] {
        guard pointer.hasPrefix("#") else { throw .contract("\(shown(pointer)) is no JSON Pointer that begins with #") }
        var shapes: [Shape] = []
        var keys: [Int] = []
        var parents: [Int] = []
        var depths: [Int] = []
        var known: [Int: Int] = [:]
        var composites: [Composite] = []
        var numbers: [Alternatives: Int] = [:]
        func add(_ alternatives: Alternatives, below parent: Int?) throws(NetworkError) -> Int {
            try spend(alternatives.reduce(1) { $0 + $1.count })
            let key = numbers[alternatives] ?? composites.count
            if key == composites.count {
                numbers[alternatives] = key
                composites.append(try composite(of: alternatives))
            }
            var ancestor = parent
            while let one = ancestor {
                if keys[one] == key { return one }
                ancestor = one == 0 ? nil : parents[one]
            }
            if shapes.count > 1_000, !composites[key].isLeaf, let one = known[key] { return one }
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
            let composite = composites[keys[next]]
            shapes[next] = composite.shape
            if let element = composite.element { shapes[next].element = try add(element, below: next) }
            if let others = composite.others { shapes[next].others = try add(others, below: next) }
            for (name, alternatives, isOptional) in composite.members {
                let member = try add(alternatives, below: next)
                shapes[next].members.append(.init(name.text, member, isOptional: isOptional))
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
        try spend(objects.joined().reduce(0) { $0 + $1.members.count + $1.required.count })
        let names = Set(objects.joined().flatMap { Array($0.members.keys) + $0.required })
        try spend(names.count * objects.reduce(0) { $0 + $1.count })
        for name in names.sorted() {
            var parts: [Alternatives] = []
            var isOptional = false
            for leaves in objects {
                let isRequired = leaves.contains { $0.required.contains(name) }
                let rules = leaves.compactMap { leaf -> Int? in
                    leaf.members[name] ?? ([Self.anyLeaf, Self.neverLeaf].contains(leaf.others) ? nil : leaf.others)
                }
                // Without a rule, the parts forbid the member.
                let part: Alternatives = try rules.isEmpty ? (isRequired ? [[Self.neverLeaf]] : []) : allOf(rules)
                let isWriteOnly = self.leaves(Array(part.joined())).contains(where: \.isWriteOnly)
                if !isRequired || isWriteOnly { isOptional = true }
                parts.append(part)
            }
            if let sum = try sum(parts) { result.members.append((name, sum, isOptional)) }
        }
        var others: [Alternatives] = []
        for leaves in objects {
            if leaves.contains(where: { $0.others == Self.neverLeaf }) { continue }
            let rules = leaves.map(\.others).filter { $0 != Self.anyLeaf }
            others.append(rules.isEmpty ? [[Self.anyLeaf]] : try allOf(rules))
        }
        // The object must be empty.
        if others.isEmpty, result.members.isEmpty { others = [[[Self.neverLeaf]]] }
        if !others.isEmpty { result.others = try sum(others) }
    }

    private mutating func sum(_ parts: [Alternatives]) throws(NetworkError) -> Alternatives? {
        var sum: Alternatives = []
        for part in parts { try add(part, to: &sum) }
        return sum.isEmpty ? nil : sum
    }
}
