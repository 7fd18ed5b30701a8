import SwitchboardJSON

/// Writes an `Encodable` value to an ``EncodingNode``.
struct NodeEncoder: Encoder {
    let node: EncodingNode
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.beginObject()
        return KeyedEncodingContainer(NodeKeyedContainer(node: node, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.beginArray()
        return NodeUnkeyedContainer(node: node, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        NodeSingleValueContainer(node: node, codingPath: codingPath)
    }
}

private struct NodeKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: EncodingNode
    let codingPath: [any CodingKey]

    func encodeNil(forKey key: Key) throws {
        node.member(key.stringValue).set(.null)
    }

    func encode(_ value: some Encodable, forKey key: Key) throws {
        try node.member(key.stringValue).encodeElement(value, at: codingPath + [key])
    }

    // A nil optional becomes `absent`, so that a form can apply its ``NilEncoding``.
    func encodeIfPresent(_ value: (some Encodable)?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { node.member(key.stringValue).set(.absent) }
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

    private func present(_ value: (some Encodable)?, _ key: Key) throws {
        if let value { try encode(value, forKey: key) } else { node.member(key.stringValue).set(.absent) }
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        encoder(for: key, node.member(key.stringValue, isArray: false)).container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder(for: key, node.member(key.stringValue, isArray: true)).unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        encoder(for: JSONPathKey(stringValue: "super"))
    }

    func superEncoder(forKey key: Key) -> any Encoder {
        encoder(for: key)
    }

    private func encoder(for key: some CodingKey, _ member: EncodingNode? = nil) -> NodeEncoder {
        NodeEncoder(node: member ?? node.member(key.stringValue), codingPath: codingPath + [key])
    }
}

private struct NodeUnkeyedContainer: UnkeyedEncodingContainer {
    let node: EncodingNode
    let codingPath: [any CodingKey]
    var count: Int { node.count }

    func encodeNil() throws {
        node.appendElement().set(.null)
    }

    func encode(_ value: some Encodable) throws {
        let key = JSONPathKey(intValue: count)
        try node.appendElement().encodeElement(value, at: codingPath + [key])
    }

    func nestedContainer<NestedKey: CodingKey>(keyedBy keyType: NestedKey.Type) -> KeyedEncodingContainer<NestedKey> {
        nextEncoder().container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        nextEncoder().unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        nextEncoder()
    }

    private func nextEncoder() -> NodeEncoder {
        let key = JSONPathKey(intValue: count)
        return NodeEncoder(node: node.appendElement(), codingPath: codingPath + [key])
    }
}

private struct NodeSingleValueContainer: SingleValueEncodingContainer {
    let node: EncodingNode
    let codingPath: [any CodingKey]

    func encodeNil() throws {
        node.set(.null)
    }

    func encode(_ value: some Encodable) throws {
        try node.encodeElement(value, at: codingPath)
    }
}

extension EncodingNode {
    /// Writes scalars directly and passes other values to ``EncodingNode/encode(_:at:)``.
    fileprivate func encodeElement<Value: Encodable>(_ value: Value, at path: [any CodingKey]) throws {
        switch value {
        case let value as String: set(.string(value))
        case let value as Bool: set(.bool(value))
        case let value as Double: set(try finite(value, at: path))
        case let value as Float: set(try finite(value, at: path))
        case let value as any BinaryInteger: set(.number(value))
        default: try encode(value, at: path)
        }
    }

    private func finite<Value: BinaryFloatingPoint & LosslessStringConvertible>(
        _ value: Value, at path: [any CodingKey]
    ) throws -> ParameterValue {
        guard let number = ParameterValue.number(finite: value) else {
            throw EncodingError.invalidValue(
                value, .init(codingPath: path, debugDescription: "\(value) is not a finite number"))
        }
        return number
    }
}
