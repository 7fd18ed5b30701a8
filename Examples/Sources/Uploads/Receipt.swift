/// The server's report of an upload.
struct Receipt: Decodable, Equatable, Sendable {
    /// One field of a form, one member of an object, or one file.
    struct Item: Decodable, Equatable, Sendable {
        let name: String
        /// `text`, `number`, `file` and the like.
        let kind: String
        /// The text. For a file, its name, type, size and Adler-32 checksum.
        let content: String
    }

    /// The media type, without its parameters.
    let type: String
    /// The size of the whole body, in bytes.
    let bytes: Int
    let items: [Item]
}
