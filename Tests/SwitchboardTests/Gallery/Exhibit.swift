import Foundation
import Switchboard
import Testing

/// One way to meet one code of `NetworkError`, as a user of the package would meet it.
struct Exhibit: Sendable, CustomTestStringConvertible {
    /// The texts of an error that people and programs see, with what differs from run to run replaced.
    struct Texts: Equatable, Codable, Sendable {
        var code: String
        /// What `localizedDescription` and `errorDescription` say.
        var error: String
        /// What `"\(error)"` says.
        var line: String
        /// What is meant for the person in front of the app.
        var message: String

        init(_ error: NetworkError, masks: [String: String] = [:]) {
            code = error.code.rawValue
            self.error = Mask.apply(to: error.errorDescription ?? "", masks)
            line = Mask.apply(to: error.description, masks)
            message = Mask.apply(to: error.message, masks)
        }
    }

    /// It was to throw a `NetworkError`, and gave a value or threw something else.
    struct Missed: Error, CustomStringConvertible {
        let description: String
    }

    let code: NetworkError.Code
    /// What was done, as a sentence of the gallery.
    let deed: String
    let provoke: @Sendable () async throws -> Texts

    var testDescription: String { code.rawValue }

    init(code: NetworkError.Code, deed: String, provoke: @escaping @Sendable () async throws -> Texts) {
        self.code = code
        self.deed = deed
        self.provoke = provoke
    }

    /// An exhibit that does what throws the error.
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

/// Replaces what differs from run to run and from machine to machine.
enum Mask {
    static func apply(to text: String, _ masks: [String: String]) -> String {
        var text = text
        for (what, mask) in masks { text = text.replacingOccurrences(of: what, with: mask) }
        text = text.replacing(#/(127\.0\.0\.1|localhost):\d+/#) { "\($0.1):PORT" }
        text = text.replacing(#/port \d+/#) { _ in "port PORT" }
        text = text.replacing(#/after \d+ ms/#) { _ in "after TIME" }
        return text.replacing(#/[^ "]*\/switchboard-[0-9A-F-]{36}/#) { _ in "FOLDER" }
    }
}
