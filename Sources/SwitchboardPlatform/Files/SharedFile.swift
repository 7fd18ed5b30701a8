import Foundation

/// Files with two names that share their bytes.
package enum SharedFile {
    /// Replaces one of two names of a file by a copy-on-write clone, so that a change under the other name does not
    /// reach it. Does nothing where the file system has no clones.
    package static func detach(_ path: String) {
        #if canImport(Darwin)
        // Ends like the temporary files that a later process removes.
        let clone = path + ".part"
        guard clonefile(path, clone, 0) == 0 else { return }
        if rename(clone, path) != 0 { unlink(clone) }
        #endif
    }
}
