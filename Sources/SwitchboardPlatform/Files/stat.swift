import Foundation

extension stat {
    /// Returns the reason why a file or folder must not be used, and what to do. Nil without one.
    ///
    /// Another user who owns or can write a file or folder may have changed it. Another user who can read a file may
    /// have read its secrets. Both are rejected, as `ssh` refuses a private key. The superuser is trusted: an
    /// administrator may provide a file that others can read. A folder may be readable, because its files are private.
    ///
    /// - Parameter user: The user who reads the file. By default the user of this process.
    /// - Returns: A sentence without its subject.
    package func fault(for user: uid_t = geteuid()) -> String? {
        let isFolder = st_mode & S_IFMT == S_IFDIR
        guard isOfTrustedUser(user) else {
            return "belongs to another user (\(st_uid)); choose another \(isFolder ? "folder" : "file")"
        }
        let mode = String(st_mode & 0o777, radix: 8)
        if allowsOthers(0o002) {
            return "can be written by other users (mode \(mode)); "
                + (isFolder ? "run chmod 700, or choose another folder" : "remove it, or check it and run chmod 600")
        }
        guard !isFolder, st_uid == user, allowsOthers(0o004) else { return nil }
        return "can be read by other users (mode \(mode)); run chmod 600"
    }

    /// Returns whether a user or the superuser owns the file.
    package func isOfTrustedUser(_ user: uid_t = geteuid()) -> Bool { st_uid == user || st_uid == 0 }

    /// Returns whether other users have a permission. The owner's private group is not one of them.
    private func allowsOthers(_ permission: mode_t) -> Bool {
        st_mode & permission != 0 || st_mode & permission << 3 != 0 && !hasPrivateGroup
    }

    /// Whether the file's group is the owner's private group: the primary group, with the owner's name and without
    /// another member. Debian, Ubuntu and Fedora create one for each user, and their umask 002 lets it write.
    private var hasPrivateGroup: Bool {
        // A longer entry has many members.
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16 << 10) { buffer in
            var owner = passwd()
            var found: UnsafeMutablePointer<passwd>?
            guard let start = buffer.baseAddress,
                getpwuid_r(st_uid, &owner, start, buffer.count, &found) == 0, found != nil,
                owner.pw_gid == st_gid
            else { return false }
            let name = String(cString: owner.pw_name)
            var entry = group()
            var other: UnsafeMutablePointer<group>?
            guard getgrgid_r(st_gid, &entry, start, buffer.count, &other) == 0, other != nil,
                String(cString: entry.gr_name) == name
            else { return false }
            var member = entry.gr_mem
            while let text = member?.pointee {
                guard String(cString: text) == name else { return false }
                member = member?.advanced(by: 1)
            }
            return true
        }
    }
}

extension stat {
    /// The time of the file's last change, in nanoseconds since 1970. A time before 1843 or after 2255 becomes the
    /// nearest one within, so that the difference to the current time is in range too.
    package var changed: Int64 {
        #if canImport(Darwin)
        let time = st_mtimespec
        #else
        let time = st_mtim
        #endif
        return max(-4_000_000_000, min(Int64(time.tv_sec), 9_000_000_000)) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
