import Foundation

/// A stored response that was found damaged. Another process may give its names to other files meanwhile.
struct DamagedFile {
    let path: String
    let file: FileIdentity?
    /// The inode of the body that the response was stored with, if the body is a ``CacheLink``.
    var linkedInode: UInt64?

    /// Removes the response and its link. A file that replaced one of them stays.
    func remove() {
        guard let file, FileIdentity(at: path) == file else { return }
        unlink(path)
        let link = CacheLink.path(of: path)
        if let linkedInode, FileIdentity(at: link)?.inode == linkedInode { unlink(link) }
    }
}
