import Foundation
import Switchboard
import SwitchboardJSON
import SwitchboardText

/// The shape of an endpoint's JSON: key paths, kinds, optional members, formats and small sets of strings.
///
/// ```swift
/// let contract = try Contract(answers: [response.body])
/// try contract.write(to: file)
/// ...
/// let stored = try Contract(contentsOf: file)
/// for difference in stored.differences(in: data) {
///     print(difference)
/// }
/// ```
///
/// A contract is a text with one line for each key path, made to be read, reviewed and edited:
///
/// ```
/// # GET 3/movie/popular
/// $: object
/// page: integer
/// results: array
/// results[]: object
/// results[].id: integer
/// results[].poster: url | null
/// results[].released?: date
/// results[].status: "planned" | "released"
/// images: object
/// images{}: object
/// images{}.width: integer
/// ```
///
/// The grammar, in which `*` repeats, `?` after brackets is optional, and quotes mark text:
///
/// ```
/// line    = path ["?"] ":" type      a comment begins with "#"
/// path    = "$" | step ("." name | "[]" | "{}")*
/// step    = name | "[]" | "{}"
/// name    = letters, digits, "_" and "-", or a JSON string
/// type    = "any" | "never" | "@" path | kind ("|" kind)*
/// kind    = "object" | "array" | "string" | "integer" | "number"
///         | "boolean" | "null" | format | a JSON string
/// format  = "date-time" | "date" | "uuid" | "url" | "email"
/// ```
///
/// `$` is the top level, `[]` the elements of an array, and `{}` each member of an object without a line of its own.
/// `?` marks a member that may be missing. A JSON string is one of the allowed strings. `@results[]` means the shape of
/// `results[]`, for values that contain themselves. The line of a container precedes the lines of its parts. Nothing
/// is checked within an object without lines for its members, and within an array without a line for its elements.
///
/// A contract that is made from answers follows these rules:
/// - A member is optional if an object lacked it. An integer and a fraction make a `number`.
///   A number with an exponent, such as `1e2`, is no `integer`, also for a JSON Schema.
/// - Strings have a format if each of them has one. A date and time has a time zone, and a `url` an authority.
/// - The strings of a member are a set of values if two to eight different ones occurred, each at least three times and
///   all of them at least twelve times, and if they are words of at most 32 bytes. The last word of the member's name is
///   `action`, `category`, `event`, `kind`, `level`, `mode`, `phase`, `priority`, `reason`, `result`, `role`,
///   `severity`, `stage`, `state`, `status`, `type` or `visibility`. Members with the names of secrets have no values.
/// - An object is a map, so that its lines become `{}`, if all its names are numbers, dates, UUIDs, email addresses,
///   hexadecimal numbers with at least eight characters and a decimal digit, or longer than 256 bytes. It is also a map
///   if it has more than 64 names whose values have one kind, or more than 1,000 names.
///
/// A contract has at most 100,000 lines and 8 MiB, each name at most 4 KiB, and each key path at most 64 KiB and 512
/// steps.
public struct Contract: Sendable {
    /// The first shape is that of the top level.
    let shapes: [Shape]
    /// The keywords of a JSON Schema that the contract does not check, as JSON Pointers: `#/properties/id/minimum`.
    /// Empty for other contracts.
    public let ignoredKeywords: [String]

    /// Creates a contract from the bodies of one answer or several. One answer does not show which members are optional
    /// or null.
    ///
    /// - Throws: `NetworkError.Code.contractFault` for an empty list, for an answer that is not JSON, and for a contract
    ///   that is too large.
    public init(answers: [Data]) throws(NetworkError) {
        var builder = ShapeBuilder()
        for (number, answer) in answers.enumerated() {
            let values: JSONValues
            do {
                values = try JSONValues(answer)
            } catch {
                let text = DecodingFailure.describe(error, in: answer)
                throw .contract("answer \(number + 1) of \(answers.count) is not JSON: \(text)")
            }
            try builder.add(values)
        }
        guard !answers.isEmpty else { throw .contract("there is no answer to make a contract from") }
        try self.init(shapes: builder.shapes())
    }

    /// Reads a contract from its text.
    ///
    /// - Throws: `NetworkError.Code.contractFault` for a text without a line, and for an invalid line, which it names.
    public init(_ text: String) throws(NetworkError) {
        var reader = ContractReader()
        // Some editors on Windows begin a file with a byte-order mark.
        let mark = "\u{FEFF}".utf8
        let lines = text.utf8.starts(with: mark) ? text.utf8.dropFirst(mark.count) : text.utf8[...]
        // By bytes, because a carriage return and a line feed are one character.
        for line in lines.split(separator: .lineFeed, omittingEmptySubsequences: false) { try reader.read(line) }
        try self.init(shapes: reader.finished())
    }

    /// Reads a contract from a file: a JSON Schema if its name ends with `.json`, and the text of a contract otherwise.
    ///
    /// - Throws: `NetworkError.Code.contractFault` for a file that cannot be read, and with the name of the file for the
    ///   faults of ``init(_:)`` and ``init(schema:at:)``.
    public init(contentsOf file: URL) throws(NetworkError) {
        let data: Data
        do {
            data = try Data(contentsOf: file)
        } catch {
            throw .contract(
                "\(file.path.quotedInFull) cannot be read: \(error.localizedDescription)", underlying: error)
        }
        do throws(NetworkError) {
            if file.pathExtension.lowercased() == "json" {
                try self.init(schema: data)
            } else {
                try self.init(String(decoding: data, as: UTF8.self))
            }
        } catch {
            throw .contract("\(file.lastPathComponent): \(error.reason ?? "")")
        }
    }

    /// Writes the text atomically, in place of an existing file.
    ///
    /// - Throws: `NetworkError.Code.cannotWriteFile`.
    public func write(to file: URL) throws(NetworkError) {
        do {
            try Data(description.utf8).write(to: file, options: .atomic)
        } catch {
            throw NetworkError(
                .cannotWriteFile, reason: "\(file.path.quotedInFull): \(error.localizedDescription)", underlying: error)
        }
    }

    /// Creates a contract of shapes, and finds the shortest path to each.
    init(shapes: [Shape], ignoredKeywords: [String] = []) throws(NetworkError) {
        var shapes = shapes
        var lengths = [Int?](repeating: nil, count: shapes.count)
        lengths[0] = 0
        var queue = [0]
        var next = 0
        var lines = 1
        var size = shapes[0].strings.length
        while next < queue.count {
            let shape = queue[next]
            next += 1
            for (step, child, _) in shapes[shape].children {
                guard step.length <= Contract.maximumName + 3 else {
                    throw .contract("a name has more than \(Contract.maximumName >> 10) KiB")
                }
                let length = (lengths[shape] ?? 0) + step.length
                guard length <= Contract.maximumPath else {
                    throw .contract("a key path has more than \(Contract.maximumPath >> 10) KiB")
                }
                lines += 1
                size += length + 16 + shapes[child].strings.length
                if let other = lengths[child] {
                    // The line refers to the other path.
                    size += shapes[child].isLeaf ? 0 : other
                } else {
                    lengths[child] = length
                    shapes[child].parent = shape
                    shapes[child].step = step
                    queue.append(child)
                }
                guard size <= Contract.maximumSize, lines <= Contract.maximumCount else { throw .tooLargeContract }
            }
        }
        self.shapes = shapes
        self.ignoredKeywords = ignoredKeywords
    }

    static let maximumCount = 100_000
    static let maximumSize = 8 << 20
    static let maximumName = 4 << 10
    /// The bytes of a key path, so that many differences stay small.
    static let maximumPath = 64 << 10
}

extension Contract: CustomStringConvertible {
    /// The text, with a line for each key path. Members are sorted by the bytes of their names, so a change of the API
    /// changes only its own lines.
    public var description: String {
        var text = ""
        var open: [(child: Shape.Child, parent: Int, path: String)] = [((.root, 0, false), 0, "$")]
        while let (child, parent, path) = open.popLast() {
            let shape = shapes[child.shape]
            text += path + (child.isOptional ? "?: " : ": ")
            guard shape.isLeaf || shape.parent == parent && shape.step == child.step else {
                text += "@\(self.path(to: child.shape))\n"
                continue
            }
            text += shape.text + "\n"
            for next in shape.children.reversed() {
                open.append((next, child.shape, next.step.path(below: path)))
            }
        }
        return text
    }

    func path(to shape: Int) -> String {
        var steps: [Shape.Step] = []
        var shape = shape
        while shape != 0 {
            steps.append(shapes[shape].step)
            shape = shapes[shape].parent
        }
        return steps.reversed().reduce("$") { $1.path(below: $0) }
    }
}

extension Shape {
    typealias Child = (step: Step, shape: Int, isOptional: Bool)

    var children: [Child] {
        var children: [Child] = []
        if let element { children.append((.element, element, false)) }
        if let others { children.append((.others, others, false)) }
        for member in members { children.append((.member(member.text), member.shape, member.isOptional)) }
        return children
    }
}

extension Shape.Step {
    fileprivate var length: Int {
        if case .member(let name) = self { name.utf8.count + 3 } else { 2 }
    }
}

extension NetworkError.Code {
    /// A contract cannot be read or made, or a mock breaks the contract that it is held to. The reason says which, and
    /// names the line of a file or the key paths of an answer.
    public static let contractFault = NetworkError.Code(rawValue: "contractFault")
}

extension NetworkError {
    /// ``Code/contractFault``
    public static var contractFault: Code { .contractFault }

    static func contract(_ reason: String, underlying: (any Error)? = nil) -> NetworkError {
        NetworkError(.contractFault, reason: reason, underlying: underlying)
    }

    static var tooLargeContract: NetworkError {
        .contract("the contract has more than \(Contract.maximumCount) lines or \(Contract.maximumSize >> 20) MiB")
    }
}
