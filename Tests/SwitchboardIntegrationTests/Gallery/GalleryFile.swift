import Foundation

/// `ErrorGallery.md`: for each code the action and the texts of its error.
enum GalleryFile {
    static let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("ErrorGallery.md")

    static let head = """
        # The text of each error

        A use that leads to each code of `NetworkError`, with the texts of the error: that of `"\\(error)"`, and
        `localizedDescription`, which an app shows to a person. `ErrorGalleryTests` compares the texts with this file.
        This command writes the file:

            SWITCHBOARD_GALLERY=write swift test --filter ErrorGallery

        Ports, paths and measured times are replaced by PORT, FOLDER and TIME.


        """

    /// Returns the text of one entry.
    static func entry(_ exhibit: Exhibit, _ texts: Exhibit.Texts) -> String {
        [
            "## \(texts.code)", "", exhibit.deed, "", "> \(texts.error)", "", "For a person:", "", "> \(texts.message)",
            "", "",
        ].joined(separator: "\n")
    }

    /// Returns the entries by their codes.
    static func read() throws -> [String: String] {
        let text = try String(contentsOf: url, encoding: .utf8)
        let parts = text.components(separatedBy: "\n## ").dropFirst()
        return Dictionary(
            parts.map { part in
                let code = String(part.prefix { !$0.isNewline })
                return (code, "## " + part.trimmingCharacters(in: .newlines) + "\n\n")
            }, uniquingKeysWith: { first, _ in first })
    }
}
