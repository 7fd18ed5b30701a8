import Foundation

/// Temporary files that other users cannot read.
package enum TemporaryFile {
    /// The system's folder for temporary files. For an empty `TMPDIR`, Foundation on Linux returns the root folder.
    package static var folder: URL {
        #if os(Linux)
        if getenv("TMPDIR")?.pointee == 0 { return URL(fileURLWithPath: "/tmp", isDirectory: true) }
        #endif
        return FileManager.default.temporaryDirectory
    }

    /// Creates an empty file, which the caller removes and closes.
    package static func create(suffix: String = "") throws(POSIXError) -> (path: String, descriptor: Int32) {
        let path = folder.appendingPathComponent("switchboard-\(UUID.randomText())\(suffix)").path
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .last }
        return (path, descriptor)
    }
}
