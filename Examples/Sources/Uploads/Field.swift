import ExampleKit
import Foundation
import Switchboard

/// `NAME=VALUE` from the command line.
struct Field: Equatable, Sendable {
    let name: String
    let value: String

    init(_ word: String) throws(Failure) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts[0].isEmpty else {
            throw Failure(.usage, "'\(word)' is no field: use NAME=VALUE")
        }
        (name, value) = (parts[0], parts[1])
    }

    /// The value for JSON. A number, `true`, `false` and `null` become values of that kind; other text stays text.
    var json: any Sendable {
        switch value {
        case "true": true
        case "false": false
        case "null": nil as String?
        default:
            if let number = Int(value) {
                number
            } else if let number = Double(value), number.isFinite {
                number
            } else {
                value
            }
        }
    }

    /// The value for a multipart form. `@FILE` sends the file's content.
    var part: MultipartBody.Part {
        guard value.hasPrefix("@") else { return .field(name, value) }
        return .file(name, URL(fileURLWithPath: String(value.dropFirst())))
    }
}
