import Foundation

/// The identity of a file, which its names share and a file that replaces it does not have.
struct FileIdentity: Hashable {
    private let device: UInt64
    let inode: UInt64

    init(_ information: stat) {
        device = UInt64(truncatingIfNeeded: information.st_dev)
        inode = UInt64(information.st_ino)
    }

    /// Creates the identity of the file with a name. Nil without one.
    init?(at path: String) {
        var information = stat()
        guard lstat(path, &information) == 0 else { return nil }
        self.init(information)
    }

    /// Creates the identity of an open file.
    init?(of descriptor: Int32) {
        var information = stat()
        guard fstat(descriptor, &information) == 0 else { return nil }
        self.init(information)
    }
}
