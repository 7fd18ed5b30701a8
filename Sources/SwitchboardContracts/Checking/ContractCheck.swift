import Foundation
import Switchboard
import SwitchboardJSON
import SwitchboardText

extension Contract {
    /// Returns the differences of an answer, sorted by key path, each once. Empty if the answer keeps the contract.
    ///
    /// An answer that is not JSON is one difference. At most 1,000 are returned, 500 of them unknown members. New strings
    /// of a set are masked by `Redaction.standard`. The time is linear in the size of the answer.
    public func differences(in answer: Data) -> [ContractDifference] {
        differences(in: answer, .standard, mask: nil)
    }

    /// Returns the differences of an answer. A string that is `mask` fits every shape, because it replaced a secret of any
    /// kind.
    package func differences(
        in answer: Data, _ redaction: Redaction = .standard, mask: String? = nil
    ) -> [ContractDifference] {
        guard let values = try? JSONValues(answer) else { return [notJSON] }
        var check = ContractCheck(self, values, redaction, mask: mask)
        check.run()
        return check.found.map(\.difference).sorted()
    }

    /// Whether responses with a status are checked: 2xx except 206, which has only a part of the JSON.
    package static func covers(_ status: Int) -> Bool { (200..<300).contains(status) && status != 206 }

    var notJSON: ContractDifference {
        ContractDifference(path: "$", kind: .notJSON, expected: shapes[0].shortText, actual: "not JSON", count: 1)
    }
}

extension [ContractDifference] {
    func sorted() -> [ContractDifference] {
        sorted {
            $0.path.hasBytes(of: $1.path)
                ? ($0.kind.rawValue, $0.actual) < ($1.kind.rawValue, $1.actual)
                : $0.path.utf8.lexicographicallyPrecedes($1.path.utf8)
        }
    }
}

/// Compares the values of one answer with the shapes of a contract, in linear time and without recursion.
struct ContractCheck {
    struct Found {
        var difference: ContractDifference
        /// The shape of the value or of the missing member. Nil for an unknown member.
        let shape: Int?
        let missingName: String?
        /// The indices of the values, or of the objects that lack a member.
        var locations: [Int] = []
    }

    /// The identity of a difference. Equal differences are counted.
    private struct Key: Hashable {
        let shape: Int
        let kind: ContractDifference.Kind
        let detail: ExactText

        init(shape: Int, kind: ContractDifference.Kind, detail: String) {
            self.shape = shape
            self.kind = kind
            self.detail = ExactText(detail)
        }
    }

    private(set) var found: [Found] = []
    var storesLocations = false
    private let contract: Contract
    private let values: JSONValues
    private let redaction: Redaction
    private let mask: String?
    private var numbers: [Key: Int] = [:]
    private var open: [(value: Int, shape: Int)] = []
    /// The number of the first member of each shape among all members.
    private var firstMembers: [Int] = []
    private let requiredMembers: [Int]
    /// The number of the last object with each member.
    private var lastObjects: [Int]
    /// The member that followed each member in the last object, or preceded all others: an answer repeats its order.
    private var followers: [Int]
    private var objects = 0
    /// The number of members among which missing ones may still be searched. At 0, no more are reported. The limit
    /// keeps the time linear.
    private var searches: Int
    private var maskings = 0

    init(_ contract: Contract, _ values: JSONValues, _ redaction: Redaction, mask: String? = nil) {
        self.mask = mask
        self.contract = contract
        self.values = values
        self.redaction = redaction
        var count = 0
        firstMembers.reserveCapacity(contract.shapes.count)
        for shape in contract.shapes {
            firstMembers.append(count)
            // One more for the first member of the object.
            count += shape.members.count + 1
        }
        requiredMembers = contract.shapes.map { $0.members.count { !$0.isOptional } }
        lastObjects = Array(repeating: 0, count: count)
        followers = Array(repeating: 0, count: count)
        searches = 4 * values.count + Contract.maximumCount
    }

    static let maximumDifferences = 1_000

    mutating func run() {
        check(JSONValues.root, 0)
        while let (value, shape) = open.popLast() {
            if values.kind(at: value) == .object {
                checkMembers(of: value, shape)
            } else if let element = contract.shapes[shape].element {
                let end = values.after(value)
                var index = value + 1
                while index < end {
                    check(index, element)
                    index = values.after(index)
                }
            }
        }
    }

    private mutating func check(_ value: Int, _ shape: Int) {
        let kinds = contract.shapes[shape].kinds
        switch values.kind(at: value) {
        case .null: if !kinds.contains(.null) { add(.kind, "null", value, shape) }
        case .boolean: if !kinds.contains(.boolean) { add(.kind, "boolean", value, shape) }
        case .number:
            if kinds.contains(.number) { return }
            let isInteger = values.isInteger(at: value)
            if !kinds.contains(.integer) || !isInteger { add(.kind, isInteger ? "integer" : "number", value, shape) }
        case .string:
            if let mask, values.withText(at: value, { $0.elementsEqual(mask.utf8) }) { return }
            if !kinds.contains(.string) { add(.kind, "string", value, shape) } else { checkString(value, shape) }
        case .array:
            if !kinds.contains(.array) { add(.kind, "array", value, shape) } else { open.append((value, shape)) }
        case .object:
            if !kinds.contains(.object) { add(.kind, "object", value, shape) } else { open.append((value, shape)) }
        }
    }

    private mutating func checkString(_ value: Int, _ shape: Int) {
        switch contract.shapes[shape].strings {
        case .any: return
        case .formats(let formats):
            let format: StringFormats? = values.withText(at: value) {
                formats.matches($0) ? nil : StringFormats.format(of: $0)
            }
            guard let format else { return }
            let word = StringFormats.words.first { $0.format == format }?.word
            add(.format, word ?? "string", value, shape)
        case .values(let allowed):
            if !values.withText(at: value, { StringRule.isOne(of: allowed, $0) }) { addNew(value, shape) }
        }
    }

    private mutating func checkMembers(of object: Int, _ shape: Int) {
        let (first, others) = (firstMembers[shape], contract.shapes[shape].others)
        let count = contract.shapes[shape].members.count
        if count == 0, others == nil { return }
        objects += 1
        var last = first + count
        var present = 0
        var name = object + 1
        let end = values.after(object)
        while name < end {
            let value = name + 1
            defer { name = values.after(value) }
            guard let position = position(of: name, in: shape, after: last) else {
                if let others { check(value, others) } else { addUnknown(name, shape) }
                continue
            }
            followers[last] = position
            last = first + position
            if lastObjects[last] != objects {
                lastObjects[last] = objects
                if !contract.shapes[shape].members[position].isOptional { present += 1 }
            }
            check(value, contract.shapes[shape].members[position].shape)
        }
        guard present < requiredMembers[shape], searches > 0 else { return }
        searches -= count
        for position in 0..<count where lastObjects[first + position] != objects {
            let member = contract.shapes[shape].members[position]
            if !member.isOptional { addMissing(member, object, shape) }
        }
    }

    /// Returns the position of a name. It is the one after the last member, as in the last object, or is searched.
    private func position(of name: Int, in shape: Int, after last: Int) -> Int? {
        values.withText(at: name) { text in
            let expected = followers[last]
            if expected < contract.shapes[shape].members.count,
                contract.shapes[shape].members[expected].name.elementsEqual(text)
            {
                return expected
            }
            return contract.shapes[shape].position(of: text)
        }
    }

    // MARK: Differences

    /// Adds a string that is not in the set. Different strings that are masked are one difference.
    private mutating func addNew(_ value: Int, _ shape: Int) {
        let text = values.string(at: value)
        let key = Key(shape: shape, kind: .value, detail: text)
        if let number = numbers[key] { return count(number, value) }
        // Masking takes longer than anything else here.
        guard maskings < Self.maximumDifferences else { return }
        maskings += 1
        let shown = shown(text, at: shape)
        let shownDetail = "\0" + shown
        add(.value, shown, value, shape, detail: shownDetail)
        numbers[key] = numbers[Key(shape: shape, kind: .value, detail: shownDetail)]
    }

    private mutating func addUnknown(_ name: Int, _ shape: Int) {
        let (contract, values, text) = (contract, values, values.string(at: name))
        // The key of a map may be a user's.
        let isKey = text.isMapKey
        add(Key(shape: shape, kind: .unknownMember, detail: isKey ? "{}" : text), name + 1, nil) {
            let kind = values.kind(at: name + 1)
            let step: Shape.Step = isKey ? .others : .member(text.shortForMessage)
            return ContractDifference(
                path: step.path(below: contract.path(to: shape)), kind: .unknownMember, expected: "no member",
                actual: kind == .number && values.isInteger(at: name + 1) ? "integer" : "\(kind)", count: 0)
        }
    }

    private mutating func addMissing(_ member: Shape.Member, _ object: Int, _ shape: Int) {
        let (contract, name) = (contract, member.text)
        add(Key(shape: shape, kind: .missingMember, detail: name), object, member.shape, name: name) {
            ContractDifference(
                path: Shape.Step.member(name).path(below: contract.path(to: shape)), kind: .missingMember,
                expected: contract.shapes[member.shape].shortText, actual: "no member", count: 0)
        }
    }

    private mutating func add(
        _ kind: ContractDifference.Kind, _ actual: String, _ value: Int, _ shape: Int, detail: String? = nil
    ) {
        let contract = contract
        add(Key(shape: shape, kind: kind, detail: detail ?? actual), value, shape) {
            ContractDifference(
                path: contract.path(to: shape), kind: kind, expected: contract.shapes[shape].shortText, actual: actual,
                count: 0)
        }
    }

    private mutating func add(
        _ key: Key, _ location: Int, _ shape: Int?, name: String? = nil, _ make: () -> ContractDifference
    ) {
        let number: Int
        if let known = numbers[key] {
            number = known
        } else {
            // Unknown members leave space for the others.
            guard found.count < (shape == nil ? Self.maximumDifferences / 2 : Self.maximumDifferences) else { return }
            number = found.count
            numbers[key] = number
            found.append(Found(difference: make(), shape: shape, missingName: name))
        }
        count(number, location)
    }

    private mutating func count(_ number: Int, _ location: Int) {
        found[number].difference.count += 1
        if storesLocations { found[number].locations.append(location) }
    }

    /// Returns a string as logs show it: masked, if a name on its path is a secret's, or if it looks like a secret.
    private func shown(_ text: String, at shape: Int) -> String {
        var name: String?
        var shape = shape
        while shape != 0 {
            if case .member(let member) = contract.shapes[shape].step {
                if redaction.isSecret(member: member) { return redaction.mask }
                name = name ?? member
            }
            shape = contract.shapes[shape].parent
        }
        let text = String(text.prefix(1_000))
        let member = "{\((name ?? "value").jsonQuoted):\(text.jsonQuoted)}"
        return redaction.text(member) == member ? text.shortForMessage.jsonQuoted : redaction.mask
    }
}
