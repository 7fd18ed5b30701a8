import Foundation
import Switchboard
import Testing

/// One way in which a user of the package gets one code of `NetworkError`.
struct Exhibit: Sendable, CustomTestStringConvertible {
    /// The texts of an error that people and programs see. Parts that differ between runs are replaced.
    struct Texts: Equatable, Codable, Sendable {
        var code: String
        /// The text of `"\(error)"`, for a developer.
        var error: String
        /// The text for the person who uses the app.
        var message: String

        init(_ error: NetworkError, masks: [String: String] = [:]) {
            code = error.code.rawValue
            self.error = Mask.apply(to: error.description, masks)
            message = Mask.apply(to: error.localizedDescription, masks)
        }
    }

    /// An exhibit returned, or threw anything but a `NetworkError`.
    struct Missed: Error, CustomStringConvertible {
        let description: String
    }

    let code: NetworkError.Code
    /// The action that leads to the error, as a sentence of the gallery.
    let deed: String
    let provoke: @Sendable () async throws -> Texts

    var testDescription: String { code.rawValue }

    init(code: NetworkError.Code, deed: String, provoke: @escaping @Sendable () async throws -> Texts) {
        self.code = code
        self.deed = deed
        self.provoke = provoke
    }

    /// Creates an exhibit from an action that throws the error.
    init(_ code: NetworkError.Code, _ deed: String, _ act: @escaping @Sendable () async throws -> Void) {
        self.init(code: code, deed: deed) {
            do {
                try await act()
            } catch let error as NetworkError {
                return Texts(error)
            } catch {
                throw Missed(description: "\(code) was to be thrown, and \(error) was")
            }
            throw Missed(description: "\(code) was to be thrown, and nothing was")
        }
    }
}

/// Replaces the parts that differ between runs and machines.
enum Mask {
    static func apply(to text: String, _ masks: [String: String]) -> String {
        var text = text
        for (what, mask) in masks { text = text.replacingOccurrences(of: what, with: mask) }
        text = text.replacing(#/(127\.0\.0\.1|localhost):\d+/#) { "\($0.1):PORT" }
        text = text.replacing(#/port \d+/#) { _ in "port PORT" }
        text = text.replacing(#/after \d+ ms/#) { _ in "after TIME" }
        // Its name may contain a blank.
        text = text.replacingOccurrences(of: FileManager.default.temporaryDirectory.path, with: "")
        return text.replacing(#/[^ "]*\/switchboard-[0-9A-F-]{36}/#) { _ in "FOLDER" }
    }
}
