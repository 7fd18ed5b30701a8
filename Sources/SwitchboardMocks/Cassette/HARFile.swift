import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardHAR

/// Reads and writes an archive's file.
enum HARFile {
    /// Reads the entries, or returns nil when the file does not exist.
    ///
    /// - Throws: `NetworkError.cassetteFault` for a file that is not an archive, with the location of the error.
    static func read(_ file: URL) throws(NetworkError) -> [HAR.Entry]? {
        do {
            return try JSONDecoder().decode(HAR.self, from: Data(contentsOf: file)).log.entries
        } catch CocoaError.fileReadNoSuchFile, CocoaError.fileNoSuchFile {
            return nil
        } catch {
            let text = (error as? DecodingError).map(describe) ?? error.localizedDescription
            throw NetworkError(
                .cassetteFault, reason: "the cassette \(file.path) cannot be read: \(text)", underlying: error)
        }
    }

    /// Writes an archive atomically, readable by its owner only.
    ///
    /// - Throws: `NetworkError.cassetteFault`.
    static func write(_ entries: [HAR.Entry], to file: URL) throws(NetworkError) {
        do {
            let data = try HAR(log: HAR.Log(entries: entries.map(\.withWebSocketScheme))).data
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try PrivateFile.write(data + Data("\n".utf8), to: file)
        } catch {
            throw NetworkError(
                .cassetteFault, reason: "the cassette \(file.path) cannot be written: \(error.localizedDescription)",
                underlying: error)
        }
    }

    /// Returns the error with its location: `log.entries[2].request.url: the key is missing`.
    private static func describe(_ error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, let context): "\(location(context.codingPath + [key])): the key is missing"
        case .valueNotFound(_, let context): "\(location(context.codingPath)): there is no value"
        case .typeMismatch(let type, let context): "\(location(context.codingPath)): it is no \(name(of: type))"
        case .dataCorrupted(let context): "\(location(context.codingPath)): \(cause(context))"
        @unknown default: error.localizedDescription
        }
    }

    private static func location(_ path: [any CodingKey]) -> String {
        var text = ""
        for key in path { text += key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }
        return text.isEmpty ? "the top level" : String(text.drop { $0 == "." })
    }

    private static func name(of type: Any.Type) -> String {
        switch type {
        case is String.Type: "text"
        case is [String: Any].Type: "object"
        case is Int.Type, is Double.Type: "number"
        case is any Collection.Type: "list"
        default: "object"
        }
    }

    private static func cause(_ context: DecodingError.Context) -> String {
        let details = (context.underlyingError as NSError?)?.userInfo[NSDebugDescriptionErrorKey] as? String
        return [context.debugDescription, details ?? ""].filter { !$0.isEmpty }.joined(separator: " ")
    }
}
