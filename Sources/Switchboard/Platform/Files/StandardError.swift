import Foundation

/// Where the package says what a program's developer has to know and no error can carry.
enum StandardError {
    static func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}
