/// The members of an object. The tape stores the index of the next expected name, so copies share it.
struct JSONKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let document: JSONDocument
    let index: Int

    init(document: JSONDocument, index: Int) throws {
        guard document.tape[index].kind == .object else { throw document.mismatch([String: Any].self, at: index) }
        try document.checkStack(at: index)
        document.prepare(index)
        self.document = document
        self.index = index
        document.setKeyType(Key.self, of: index)
    }

    var codingPath: [any CodingKey] { document.path(to: index) }
    var allKeys: [Key] { document.names(of: index).compactMap { Key(stringValue: $0) } }

    /// Returns the tape index of a member's value, or throws when the object has no such member.
    @inline(never)
    func find(_ key: Key) throws -> Int {
        let found = document.member(key, in: index)
        guard found != 0 else { throw document.missing(key, in: index) }
        return found
    }

    /// Returns the tape index of a member's value, or nil when the member is missing or null.
    @inline(never)
    func findValue(_ key: Key) -> Int? {
        let found = document.member(key, in: index)
        return document.tape[found].kind == .null ? nil : found
    }

    func contains(_ key: Key) -> Bool { findMember(key) != 0 }

    /// Returns the tape index of a member's value, or 0, the index of a null, when the member is missing.
    @inline(never)
    func findMember(_ key: some CodingKey) -> Int { document.member(key, in: index) }

    func decodeNil(forKey key: Key) throws -> Bool { document.tape[try find(key)].kind == .null }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        KeyedDecodingContainer(try JSONKeyedContainer<Nested>(document: document, index: try find(key)))
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try JSONUnkeyedContainer(document: document, index: try find(key))
    }

    /// Returns the decoder of the member `super`, or of null when it is missing.
    func superDecoder() throws -> any Decoder { try decoder(of: JSONPathKey(stringValue: "super")) }

    /// Returns the decoder of a member, or of null when it is missing.
    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(of: key) }

    private func decoder(of key: some CodingKey) throws -> any Decoder {
        let found = findMember(key)
        return found == 0
            ? try document.missingMember(key, in: index) : JSONValueDecoder(document: document, index: found)
    }
}
