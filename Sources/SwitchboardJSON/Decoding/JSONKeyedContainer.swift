/// The members of an object. The place of the next name expected is on the tape, so that copies share it.
struct JSONKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let document: JSONDocument
    let index: Int

    init(document: JSONDocument, index: Int) throws {
        guard document.tape[index].kind == .object else { throw document.mismatch([String: Any].self, at: index) }
        document.prepare(index)
        self.document = document
        self.index = index
    }

    var codingPath: [any CodingKey] { document.path(to: index) }
    var allKeys: [Key] { document.names(of: index).compactMap { Key(stringValue: $0) } }

    /// The tape index of a member's value.
    @inline(never)
    func find(_ key: Key) throws -> Int {
        let found = document.member(key, in: index)
        guard found != 0 else { throw document.missing(key, in: index) }
        return found
    }

    /// The tape index of a member's value; nil when there is none or it is null.
    @inline(never)
    func findValue(_ key: Key) -> Int? {
        let found = document.member(key, in: index)
        return document.tape[found].kind == .null ? nil : found
    }

    func contains(_ key: Key) -> Bool { findMember(key) != 0 }

    /// The tape index of a member's value; 0, which is a null, when there is none.
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

    /// The decoder of the member `super`, or of null when there is none.
    func superDecoder() throws -> any Decoder { try decoder(of: JSONPathKey(stringValue: "super")) }

    /// The decoder of a member, or of null when there is none.
    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(of: key) }

    private func decoder(of key: some CodingKey) throws -> any Decoder {
        let found = findMember(key)
        return found == 0
            ? try document.missingMember(key, in: index) : JSONValueDecoder(document: document, index: found)
    }
}
