import Foundation
import SwitchboardJSON
import SwitchboardText

struct ParameterValueEncoder: Encoder {
    let node: EncodingNode
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.beginObject()
        return KeyedEncodingContainer(KeyedContainer(node: node, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.beginArray()
        return UnkeyedContainer(node: node, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        SingleValueContainer(node: node, codingPath: codingPath)
    }
}

private struct KeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: EncodingNode
    let codingPath: [any CodingKey]

    func encodeNil(forKey key: Key) throws {
        node.makeMember(key.stringValue).set(.null)
    }

    func encode(_ value: some Encodable, forKey key: Key) throws {
        let member = node.makeChild()
        try member.encodeElement(value, at: codingPath + [key])
        node.setMember(key.stringValue, to: member)
    }

    // The protocol's default implementations throw for these two types.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func encode(_ value: Int128, forKey key: Key) throws { node.makeMember(key.stringValue).set(.number(value)) }
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func encode(_ value: UInt128, forKey key: Key) throws { node.makeMember(key.stringValue).set(.number(value)) }

    // A nil optional becomes `absent`, so that a form can apply its ``NilEncoding``.
    func encodeIfPresent(_ value: (some Encodable)?, forKey key: Key) throws {
        try present(value, key)
    }
    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try present(value, key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) throws { try present(value, key) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try present(value, key) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try present(value, key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try present(value, key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try present(value, key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try present(value, key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try present(value, key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try present(value, key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try present(value, key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try present(value, key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try present(value, key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try present(value, key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try present(value, key) }
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func encodeIfPresent(_ value: Int128?, forKey key: Key) throws { try present(value, key) }
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func encodeIfPresent(_ value: UInt128?, forKey key: Key) throws { try present(value, key) }

    private func present(_ value: (some Encodable)?, _ key: Key) throws {
        if let value { try encode(value, forKey: key) } else { node.addAbsentMember(key.stringValue) }
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        encoder(for: key, node.nestedMember(key.stringValue, isArray: false)).container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder(for: key, node.nestedMember(key.stringValue, isArray: true)).unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        encoder(for: JSONPathKey(stringValue: "super"))
    }

    func superEncoder(forKey key: Key) -> any Encoder {
        encoder(for: key)
    }

    private func encoder(for key: some CodingKey, _ member: EncodingNode? = nil) -> ParameterValueEncoder {
        ParameterValueEncoder(node: member ?? node.makeMember(key.stringValue), codingPath: codingPath + [key])
    }
}

private struct UnkeyedContainer: UnkeyedEncodingContainer {
    let node: EncodingNode
    let codingPath: [any CodingKey]
    var count: Int { node.count }

    func encodeNil() throws {
        node.appendElement().set(.null)
    }

    func encode(_ value: some Encodable) throws {
        let key = JSONPathKey(intValue: count)
        let element = node.makeChild()
        try element.encodeElement(value, at: codingPath + [key])
        node.append(element)
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func encode(_ value: Int128) throws { node.appendElement().set(.number(value)) }
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func encode(_ value: UInt128) throws { node.appendElement().set(.number(value)) }

    func nestedContainer<NestedKey: CodingKey>(keyedBy keyType: NestedKey.Type) -> KeyedEncodingContainer<NestedKey> {
        nextEncoder().container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        nextEncoder().unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        nextEncoder()
    }

    private func nextEncoder() -> ParameterValueEncoder {
        let key = JSONPathKey(intValue: count)
        return ParameterValueEncoder(node: node.appendElement(), codingPath: codingPath + [key])
    }
}

private struct SingleValueContainer: SingleValueEncodingContainer {
    let node: EncodingNode
    let codingPath: [any CodingKey]

    func encodeNil() throws {
        node.set(.null)
    }

    func encode(_ value: some Encodable) throws {
        try node.encodeElement(value, at: codingPath)
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func encode(_ value: Int128) throws { node.set(.number(value)) }
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    func encode(_ value: UInt128) throws { node.set(.number(value)) }
}

extension EncodingNode {
    /// Writes scalars directly and passes other values to ``EncodingNode/encode(_:at:)``.
    fileprivate func encodeElement<Value: Encodable>(
        _ value: Value, at path: @autoclosure () -> [any CodingKey]
    ) throws {
        switch value {
        case let value as String: set(.string(value))
        case let value as Bool: set(.bool(value))
        case let value as Double: set(try finite(value, .number(finite: value), at: path()))
        case let value as Float: set(try finite(value, .number(finite: value), at: path()))
        case let value as any BinaryInteger: set(.number(value))
        default: try encode(value, at: path())
        }
    }

    private func finite(
        _ value: Any, _ number: ParameterValue?, at path: @autoclosure () -> [any CodingKey]
    ) throws -> ParameterValue {
        if let number { return number }
        throw EncodingError.invalidValue(
            value, .init(codingPath: path(), debugDescription: "\(value) is not a finite number"))
    }
}

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

    /// The maximum nesting of arrays and objects, as in serde_json. Fewer fit on the stack of a small thread if the
    /// code of a type needs more than 3 KiB.
    static let maximumDepth = 128

    private let depth: Int
    /// The number of running `encode(to:)` that write to this node, each through the single-value container of another.
    private var singles = 0
    private var content = Content.empty
    /// The index of each member by name, for members after the first 16. Empty until it is needed.
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

    static var exceedsStack: NetworkError {
        NetworkError(.encodingFailed, reason: "the value is nested too deeply for the stack of this thread")
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
        reset()
        content = .object([])
    }

    private func reset() {
        content = .empty
        indices = [:]
    }

    func appendElement() -> EncodingNode {
        let node = makeChild()
        append(node)
        return node
    }

    func append(_ node: EncodingNode) {
        guard case .array(var nodes) = content else { return }
        content = .empty  // releases the array, so that it is not copied
        nodes.append(node)
        content = .array(nodes)
    }

    /// Returns a child node, which is no member or element yet: a value whose encoding fails leaves none. A child
    /// beyond the maximum depth is not stored: releasing so deep a tree would overflow the stack.
    func makeChild() -> EncodingNode {
        if depth >= Self.maximumDepth { content = .tooDeep }
        return EncodingNode(depth: depth + 1)
    }

    /// Returns a new node for a member, in place of an earlier one of that name, as in `JSONEncoder`.
    func makeMember(_ name: String) -> EncodingNode {
        let node = makeChild()
        setMember(name, to: node)
        return node
    }

    /// Makes a child the member of that name, unless one exists and is kept.
    func setMember(_ name: String, to node: EncodingNode, keepsExisting: Bool = false) {
        guard case .object(var members) = content else { return }
        content = .empty
        if let index = index(of: name, in: members) {
            if !keepsExisting { members[index].node = node }
        } else {
            if members.count >= 16 { indices[name] = members.count }
            members.append((name, node))
        }
        content = .object(members)
    }

    /// Adds a member for a nil optional. It replaces no value, as in `JSONEncoder`, which writes nothing.
    func addAbsentMember(_ name: String) {
        let node = makeChild()
        node.set(.absent)
        setMember(name, to: node, keepsExisting: true)
    }

    /// Returns the node for the nested array or object of a member. A second one with the same name continues the
    /// first, as in `JSONEncoder`.
    func nestedMember(_ name: String, isArray: Bool) -> EncodingNode {
        if case .object(let members) = content, let index = index(of: name, in: members) {
            switch members[index].node.content {
            case .array where isArray, .object where !isArray: return members[index].node
            default: break
            }
        }
        return makeMember(name)
    }

    private func index(of name: String, in members: [(name: String, node: EncodingNode)]) -> Int? {
        if let index = members.prefix(16).firstIndex(where: { $0.name == name }) { return index }
        if indices.isEmpty {
            for (index, member) in members.enumerated().dropFirst(16) { indices[member.name] = index }
        }
        return indices[name]
    }

    /// Writes a value to this node, in place of an earlier one. A value whose encoding fails leaves nothing.
    func encode(_ value: any Encodable, at path: [any CodingKey]) throws {
        guard depth <= Self.maximumDepth else { throw Self.tooDeep }
        guard singles < 4 * Self.maximumDepth else {
            throw NetworkError(
                .encodingFailed, reason: "more than \(singles) values, each of which encodes another one in its place")
        }
        if depth + singles > 16, StackSpace.isExhausted { throw Self.exceedsStack }
        switch value {
        case let value as Date: set(.date(value))
        case let value as Data: set(.data(value))
        case let value as URL: set(.string(value.absoluteString))
        case let value as Decimal: set(try finite(value, .number(finite: value), at: path))
        case let value as Parameters: set(.object(value))
        case let value as ParameterValue: set(value)
        default:
            reset()
            singles += 1
            defer { singles -= 1 }
            do {
                try value.encode(to: ParameterValueEncoder(node: self, codingPath: path))
            } catch {
                reset()
                throw error
            }
            if value is any AnyDictionary { sortMembers() }
        }
    }

    private func sortMembers() {
        guard case .object(let members) = content else { return }
        reset()
        content = .object(members.sorted(byName: \.name))
    }
}

/// A dictionary of any type. Its members have no defined order, so they are sorted.
private protocol AnyDictionary {}
extension Dictionary: AnyDictionary {}
