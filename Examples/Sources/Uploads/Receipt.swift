/// What the server says that it understood.
struct Receipt: Decodable, Equatable, Sendable {
    /// One field of a form, one member of an object, or one file.
    struct Item: Decodable, Equatable, Sendable {
        let name: String
        /// `text`, `number`, `file` and the like.
        let kind: String
        /// The text; of a file its name, type, size and Adler-32 checksum.
        let content: String
    }

    /// The media type, without its parameters.
    let type: String
    /// The bytes of the whole body.
    let bytes: Int
    let items: [Item]
}
