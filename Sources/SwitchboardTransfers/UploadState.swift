import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardText

/// The state of an upload in pieces, in a file that the app chooses, so that another process can resume the upload.
struct UploadState: Codable, Equatable {
    /// The endpoint's URL with secrets masked.
    var endPoint: String
    /// The upload's URL. With many servers, it is enough to append to the upload, so only the owner can read the file.
    var location: URL
    /// Whether another origin than the endpoint's took part in choosing the URL, so that it receives no credentials.
    var isChosenElsewhere: Bool
    /// The file's size in bytes and time of last change, in seconds since 1970.
    var length: Int64
    var changed: Double

    /// Reads the state. Nil without a file, or for contents that cannot be decoded.
    ///
    /// - Throws: `NetworkError.Code.unreadableFile` for an existing file that cannot be read, or that other users own, can
    ///   write or can read. It is not replaced.
    static func read(_ file: URL?) throws(NetworkError) -> UploadState? {
        guard let file else { return nil }
        do {
            return try PrivateFile.read(file, limit: 1 << 20).flatMap {
                try? JSONDecoder().decode(UploadState.self, from: $0)
            }
        } catch {
            let why = "the state of the upload, \(file.path.quotedForMessage): \(error.localizedDescription)"
            throw NetworkError(.unreadableFile, reason: why, underlying: error)
        }
    }

    func write(_ file: URL?) throws(NetworkError) {
        guard let file else { return }
        do {
            try PrivateFile.write(JSONEncoder().encode(self), to: file, isSynchronized: false)
        } catch {
            let why = "the state of the upload, \(file.path.quotedForMessage), for which its folder must exist"
            throw NetworkError(.cannotWriteFile, reason: why, underlying: error)
        }
    }
}

extension URL {
    /// Returns the size and the time of last change of the regular file.
    func uploadMark() throws(NetworkError) -> (length: Int64, changed: Double) {
        guard let length = sizeOfFile, access(path, R_OK) == 0,
            let date = try? FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
        else {
            throw NetworkError(.unreadableFile, reason: path.quotedForMessage)
        }
        return (length, date.timeIntervalSince1970)
    }
}
