import Foundation

/// Where the package says what a program's developer has to know and no error can carry.
package enum StandardError {
    package static func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}
