import Foundation

/// `ErrorGallery.md`: for each code the action and the texts of its error.
enum GalleryFile {
    static let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("ErrorGallery.md")

    static let head = """
        # What each error says

        Every code of `NetworkError`, met as a user would meet it, with its texts: what `errorDescription` and
        `localizedDescription` say, what `"\\(error)"` says where that is more, and `message`, which is meant for the
        person in front of the app. `ErrorGalleryTests` compares them, and writes this file when it is run so:

            SWITCHBOARD_GALLERY=write swift test --filter ErrorGallery

        Ports, paths and measured times are replaced by PORT, FOLDER and TIME.


        """

    /// Returns the text of one entry.
    static func entry(_ exhibit: Exhibit, _ texts: Exhibit.Texts) -> String {
        var lines = ["## \(texts.code)", "", exhibit.deed, "", "> \(texts.error)", ""]
        if texts.line != texts.error { lines += ["In full:", "", "> \(texts.line)", ""] }
        lines += ["For a person:", "", "> \(texts.message)", "", ""]
        return lines.joined(separator: "\n")
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
