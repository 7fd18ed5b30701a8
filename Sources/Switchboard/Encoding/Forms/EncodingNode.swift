import Foundation
import SwitchboardText

/// A node in the document that an `Encodable` writes. ``finished()`` converts it to a ``ParameterValue``.
///
/// It is a class, because `Encoder` containers share the node to which they write. One encoding call uses it on one
/// thread.
final class EncodingNode {
    private enum Content {
        case empty
        case tooDeep
        case value(ParameterValue)
        case array([EncodingNode])
        case object([(name: String, node: EncodingNode)])
    }

    /// The maximum nesting of arrays and objects, as in serde_json. More would overflow the stack of a small thread.
    static let maximumDepth = 128

    private let depth: Int
    private var content = Content.empty
    /// The index of each member by name, for members after the first 16.
    private var indices: [String: Int] = [:]

    init(depth: Int = 0) {
        self.depth = depth
    }

    /// Returns the value that was written, or an empty object if nothing was.
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
        NetworkError(.encodingFailed, reason: "more than \(maximumDepth) nested arrays and objects")
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
        let node = makeChild()
        guard case .array(var nodes) = content else { return node }
        content = .empty  // releases the array, so that it is not copied
        nodes.append(node)
        content = .array(nodes)
        return node
    }

    /// Returns a child node. A child beyond the maximum depth is not stored: releasing so deep a tree would overflow
    /// the stack.
    private func makeChild() -> EncodingNode {
        if depth >= Self.maximumDepth { content = .tooDeep }
        return EncodingNode(depth: depth + 1)
    }

    /// Returns the node for a member. A second write of the same name replaces the first, as in `JSONEncoder`.
    func member(_ name: String) -> EncodingNode {
        let node = makeChild()
        guard case .object(var members) = content else { return node }
        content = .empty
        if let index = index(of: name, in: members) {
            members[index].node = node
        } else {
            if members.count >= 16 { indices[name] = members.count }
            members.append((name, node))
        }
        content = .object(members)
        return node
    }

    /// Returns the node for the nested array or object of a member. A second one with the same name continues the first, as
    /// in `JSONEncoder`.
    func member(_ name: String, isArray: Bool) -> EncodingNode {
        if case .object(let members) = content, let index = index(of: name, in: members) {
            switch members[index].node.content {
            case .array where isArray, .object where !isArray: return members[index].node
            default: break
            }
        }
        return member(name)
    }

    private func index(of name: String, in members: [(name: String, node: EncodingNode)]) -> Int? {
        members.prefix(16).firstIndex { $0.name == name } ?? indices[name]
    }

    /// Writes a value to this node.
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

/// A dictionary of any type. Its members have no defined order, so they are sorted.
private protocol AnyDictionary {}
extension Dictionary: AnyDictionary {}
