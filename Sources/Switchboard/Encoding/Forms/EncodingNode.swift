import Foundation
import SwitchboardText

/// A place in a document that an `Encodable` is writing; it becomes an ``ParameterValue`` once the writing is over.
///
/// A class, because `Encoder` containers share the place they write to. Used by one encoding call on one thread.
final class EncodingNode {
    private enum Content {
        case empty
        case tooDeep
        case value(ParameterValue)
        case array([EncodingNode])
        case object([(name: String, node: EncodingNode)])
    }

    /// How many lists and objects may stand in one another: more would overflow the stack of a small thread. serde_json
    /// reads no more than this either.
    static let maximumDepth = 128

    private let depth: Int
    private var content = Content.empty
    /// Where each name stands, once an object has many members.
    private var positions: [String: Int] = [:]

    init(depth: Int = 0) {
        self.depth = depth
    }

    /// The value that was written; an empty object when nothing was.
    func finished() throws -> ParameterValue {
        switch content {
        case .empty: .object([:])
        case .tooDeep: throw Self.tooDeep
        case .value(let value): value
        case .array(let nodes): .array(try nodes.map { try $0.finished() })
        case .object(let members): .object(Parameters(try members.map { ($0.name, try $0.node.finished()) }))
        }
    }

    static var tooDeep: NetworkError {
        NetworkError(
            .encodingFailed, reason: "more than \(maximumDepth) nested arrays and objects")
    }

    var count: Int {
        if case .array(let nodes) = content { nodes.count } else { 0 }
    }

    func set(_ value: ParameterValue) {
        content = .value(value)
    }

    func beginArray() {
        if case .array = content { return }
        content = .array([])
    }

    func beginObject() {
        if case .object = content { return }
        content = .object([])
    }

    func appendElement() -> EncodingNode {
        let node = inner()
        guard case .array(var nodes) = content else { return node }
        content = .empty  // the array is changed in place, not copied
        nodes.append(node)
        content = .array(nodes)
        return node
    }

    /// A place in this one. One that is too deep is not kept: nobody can let go of such a tree.
    private func inner() -> EncodingNode {
        if depth >= Self.maximumDepth { content = .tooDeep }
        return EncodingNode(depth: depth + 1)
    }

    /// The place of a member; writing a name a second time replaces the first, as `JSONEncoder` does.
    func member(_ name: String) -> EncodingNode {
        let node = inner()
        guard case .object(var members) = content else { return node }
        content = .empty
        if let index = position(of: name, in: members) {
            members[index].node = node
        } else {
            if members.count >= 16 { positions[name] = members.count }
            members.append((name, node))
        }
        content = .object(members)
        return node
    }

    private func position(of name: String, in members: [(name: String, node: EncodingNode)]) -> Int? {
        members.prefix(16).firstIndex { $0.name == name } ?? positions[name]
    }

    /// Writes a value here.
    func encode(_ value: any Encodable, at path: [any CodingKey]) throws {
        guard depth <= Self.maximumDepth else { throw Self.tooDeep }
        switch value {
        case let value as Date: set(.date(value))
        case let value as Data: set(.data(value))
        case let value as URL: set(.string(value.absoluteString))
        case let value as Decimal:
            guard !value.isNaN else {
                throw EncodingError.invalidValue(
                    value, .init(codingPath: path, debugDescription: "\(value) is not a finite number"))
            }
            set(.number(value.description))
        case let value as Parameters: set(.object(value))
        case let value as ParameterValue: set(value)
        default:
            try value.encode(to: NodeEncoder(node: self, codingPath: path))
            if value is any AnyDictionary { sortMembers() }
        }
    }

    private func sortMembers() {
        if case .object(let members) = content { content = .object(members.sorted(byName: \.name)) }
    }
}

/// Any dictionary: its members have no order of their own.
private protocol AnyDictionary {}
extension Dictionary: AnyDictionary {}
