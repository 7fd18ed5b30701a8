import Foundation

extension FileHandle {
    /// Waits until the written bytes are on the disk. On Apple's systems `fsync` leaves them in the disk's cache, and
    /// `F_FULLFSYNC` empties it
    /// ([page](https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/fsync.2.html)).
    /// Some volumes support only `fsync`.
    func synchronizeDisk() throws {
        #if canImport(Darwin)
        if fcntl(fileDescriptor, F_FULLFSYNC) == 0 { return }
        #endif
        try synchronize()
    }
}
