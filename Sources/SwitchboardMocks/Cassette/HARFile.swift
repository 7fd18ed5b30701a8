import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardHAR
import SwitchboardJSON
import SwitchboardText

/// Reads and writes an archive's file.
enum HARFile {
    /// Reads the entries, or returns nil when the file does not exist.
    ///
    /// - Throws: `NetworkError.cassetteFault` for a file that is not an archive, with the location of the error.
    static func read(_ file: URL) throws(NetworkError) -> [HAR.Entry]? {
        var data = Data()
        do {
            data = try Data(contentsOf: file)
            return try FastJSONDecoder().decode(HAR.self, from: data).log.entries
        } catch CocoaError.fileReadNoSuchFile, CocoaError.fileNoSuchFile {
            return nil
        } catch {
            let text =
                error is DecodingError
                ? DecodingFailure.describe(error, in: data, called: "the file") : error.localizedDescription
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
}
