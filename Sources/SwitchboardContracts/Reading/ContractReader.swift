import Foundation
import Switchboard
import SwitchboardJSON
import SwitchboardText

/// Reads the lines of a contract. ``Contract`` has the grammar.
struct ContractReader {
    private var shapes: [Shape] = []
    private var line = 0
    /// The shapes by their paths, as this package writes them.
    private var paths: [ExactText: Int] = [:]
    private var seen: Set<ExactText> = []
    /// The lines that refer to another path.
    private var references: [(line: Int, parent: Int, step: Shape.Step, isOptional: Bool, path: String)] = []

    /// Reads the next line.
    ///
    /// - Throws: `NetworkError.contractFault` with the number of the line.
    mutating func read(_ text: Substring.UTF8View) throws(NetworkError) {
        line += 1
        var scanner = ContractScanner(text)
        scanner.skipBlanks()
        if scanner.isAtEnd { return }
        guard shapes.count < Contract.maximumCount else { throw .tooLargeContract }
        let (path, container, step) = try path(&scanner)
        let parent = try parent(container, of: path, at: step)
        guard seen.insert(ExactText(path)).inserted else { throw fault("\(path) has a line already") }
        let isOptional = scanner.take("?")
        if isOptional, !step.isMember { throw fault("only a member may be optional, and \(path) is none") }
        guard scanner.take(":") else { throw fault("expected ':' after \(path)\(scanner.found)") }
        scanner.skipBlanks()
        if scanner.take("@") {
            let target = try self.path(&scanner).path
            guard let parent else { throw fault("the top level cannot refer to another line") }
            references.append((line, parent, step, isOptional, target))
        } else {
            let shape = try type(&scanner)
            shapes.append(shape)
            paths[ExactText(path)] = shapes.count - 1
            if let parent { add(shapes.count - 1, to: parent, at: step, isOptional: isOptional) }
        }
        scanner.skipBlanks()
        guard scanner.isAtEnd else { throw fault("expected the end of the line\(scanner.found)") }
    }

    mutating func finished() throws(NetworkError) -> [Shape] {
        guard !shapes.isEmpty else { throw .contract("the contract has no line; the first one is $: TYPE") }
        for (line, parent, step, isOptional, path) in references {
            guard let target = paths[ExactText(path)] else {
                throw .contract("line \(line): @\(path) refers to no line with a type")
            }
            add(target, to: parent, at: step, isOptional: isOptional)
        }
        for index in shapes.indices {
            shapes[index].members.sort { $0.name.lexicographicallyPrecedes($1.name) }
        }
        return shapes
    }

    private mutating func add(_ shape: Int, to parent: Int, at step: Shape.Step, isOptional: Bool) {
        switch step {
        case .root: break
        case .element: shapes[parent].element = shape
        case .others: shapes[parent].others = shape
        case .member(let name): shapes[parent].members.append(.init(name, shape, isOptional: isOptional))
        }
    }

    private func fault(_ text: String) -> NetworkError { .contract("line \(line): \(text)") }

    // MARK: Paths

    /// Reads a path. Returns the path of its container, and its last step.
    private func path(_ scanner: inout ContractScanner) throws(NetworkError) -> (
        path: String, container: String, step: Shape.Step
    ) {
        if scanner.take("$") { return ("$", "", .root) }
        var path = "$"
        var last = (container: path, step: Shape.Step.root)
        var count = 0
        while true {
            let step: Shape.Step
            if scanner.take("[]") {
                step = .element
            } else if scanner.take("{}") {
                step = .others
            } else if path == "$" || scanner.take(".") {
                guard let name = try name(&scanner) else { throw fault("expected a key path\(scanner.found)") }
                step = .member(name)
            } else {
                break
            }
            count += 1
            guard count <= 512 else { throw fault("a key path has at most 512 steps") }
            last = (path, step)
            path = step.path(below: path)
        }
        return (path, last.container, last.step)
    }

    /// Returns the shape of the container, or nil for the top level.
    private func parent(_ container: String, of path: String, at step: Shape.Step) throws(NetworkError) -> Int? {
        if step == .root { return nil }
        guard let parent = paths[ExactText(container)] else {
            throw fault("the line of \(container) must precede \(path)")
        }
        let kind: Kinds = step == .element ? .array : .object
        guard shapes[parent].kinds.contains(kind) else { throw fault("\(container) is no \(kind.word)") }
        return parent
    }

    private func name(_ scanner: inout ContractScanner) throws(NetworkError) -> String? {
        let name = try string(&scanner) ?? scanner.takePlainName()
        guard let name, name.utf8.count > Contract.maximumName else { return name }
        throw fault("a name has at most \(Contract.maximumName >> 10) KiB")
    }

    private func string(_ scanner: inout ContractScanner) throws(NetworkError) -> String? {
        guard scanner.starts(with: "\"") else { return nil }
        guard let string = scanner.takeString() else { throw fault("expected a JSON string\(scanner.found)") }
        return string
    }

    // MARK: Types

    private func type(_ scanner: inout ContractScanner) throws(NetworkError) -> Shape {
        var shape = Shape(kinds: [])
        var formats: StringFormats = []
        var values: Set<ExactText> = []
        var hasAnyString = false
        var words: Set<String> = []
        repeat {
            scanner.skipBlanks()
            if let value = try string(&scanner) {
                guard values.insert(ExactText(value)).inserted else { throw fault("a string is listed twice") }
                shape.kinds.insert(.string)
            } else {
                guard let word = scanner.takePlainName() else { throw fault("expected a type\(scanner.found)") }
                guard words.insert(word).inserted else { throw fault("\(word) is listed twice") }
                if word == "any" {
                    shape.kinds = .any
                    hasAnyString = true
                } else if let kind = Kinds.words.first(where: { $0.word == word })?.kind {
                    shape.kinds.insert(kind)
                    if kind == .string { hasAnyString = true }
                } else if let format = StringFormats.words.first(where: { $0.word == word })?.format {
                    formats.insert(format)
                    shape.kinds.insert(.string)
                } else if word != "never" {
                    throw fault("\(word.shortForMessage) is no type; the types are \(Self.typeWords)")
                }
            }
            scanner.skipBlanks()
        } while scanner.take("|")
        if words.count + values.count > 1, words.contains("any") || words.contains("never") {
            throw fault("any and never have no alternatives")
        }
        guard [hasAnyString, !formats.isEmpty, !values.isEmpty].count(where: { $0 }) < 2 else {
            throw fault("string, formats and strings exclude each other")
        }
        if !formats.isEmpty { shape.strings = .formats(formats) }
        if !values.isEmpty { shape.strings = .anyOf(values) }
        shape.kinds = shape.kinds.closed
        return shape
    }

    private static let typeWords =
        (["any", "never"] + Kinds.words.map(\.word) + StringFormats.words.map(\.word)).joined(separator: ", ")
}

extension Shape.Step {
    fileprivate var isMember: Bool {
        if case .member = self { true } else { false }
    }
}

/// Reads one line from left to right.
private struct ContractScanner {
    private var rest: Substring.UTF8View

    init(_ line: Substring.UTF8View) {
        rest = line
        if rest.last == .carriageReturn { rest.removeLast() }
    }

    var isAtEnd: Bool { rest.isEmpty || rest.first == .numberSign }

    /// The beginning of the rest, for a message.
    var found: String {
        rest.isEmpty ? ", found the end of the line" : ", found \(String(Substring(rest.prefix(200))).quotedForMessage)"
    }

    mutating func skipBlanks() { rest = rest.drop { $0.isBlank } }

    func starts(with text: String) -> Bool { rest.starts(with: text.utf8) }

    mutating func take(_ text: String) -> Bool {
        guard starts(with: text) else { return false }
        rest = rest.dropFirst(text.utf8.count)
        return true
    }

    mutating func takePlainName() -> String? {
        let name = rest.prefix { ASCIISet.plainName.contains($0) }
        rest = rest.dropFirst(name.count)
        return name.isEmpty ? nil : String(Substring(name))
    }

    /// Takes a JSON string with its quotes, or returns nil for an invalid one.
    mutating func takeString() -> String? {
        var isEscaped = false
        var end = rest.dropFirst()
        while let byte = end.popFirst() {
            if isEscaped {
                isEscaped = false
            } else if byte == .backslash {
                isEscaped = true
            } else if byte == .quote {
                guard let values = try? JSONValues(Array(rest[..<end.startIndex])) else { return nil }
                rest = end
                return values.string(at: JSONValues.root)
            }
        }
        return nil
    }
}
