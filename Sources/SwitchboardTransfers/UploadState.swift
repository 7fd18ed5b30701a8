import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardText

/// What is known of an upload in pieces, in a file of the app's choice, so that another process can go on with it.
struct UploadState: Codable, Equatable {
    /// The endpoint's URL, secrets replaced.
    var endPoint: String
    /// Where the server keeps the upload. Whoever knows it may often add to it: the file can be read by its owner alone.
    var location: URL
    /// Whether another origin than the endpoint's had a say in that place, so that it gets no credentials.
    var isChosenElsewhere: Bool
    /// The file's size and time of last change, in seconds since 1970.
    var length: Int64
    var changed: Double

    /// Nil when there is none, or what there is says nothing.
    ///
    /// - Throws: `NetworkError.Code.unreadableFile` for a file that is there and cannot be read, which nothing replaces.
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
    /// Size and time of last change of the regular file there.
    func uploadMark() throws(NetworkError) -> (length: Int64, changed: Double) {
        guard let length = sizeOfFile, access(path, R_OK) == 0,
            let date = try? FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
        else {
            throw NetworkError(.unreadableFile, reason: path.quotedForMessage)
        }
        return (length, date.timeIntervalSince1970)
    }
}
