import Foundation

/// Writes messages for the developer of a program that no thrown error can carry.
package enum StandardError {
    package static func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}
