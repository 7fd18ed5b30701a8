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

    /// The value in JSON: what reads as a number, as true, false or null is that.
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

    /// The value in a form with files: `@FILE` is a file.
    var part: MultipartBody.Part {
        guard value.hasPrefix("@") else { return .field(name, value) }
        return .file(name, URL(fileURLWithPath: String(value.dropFirst())))
    }
}
