import Switchboard
import SwitchboardPlatform
import Foundation
import SwitchboardJSON
import SwitchboardText

extension CookieJar {
    /// Creates a jar with the cookies of a file that ``save(to:includingSessionCookies:)`` wrote. The jar is empty when
    /// the file does not exist. ``reset()`` removes the file.
    ///
    /// - Throws: `NetworkError.Code.unreadableFile` when the file cannot be read or is not a cookie file, or when other
    ///   users own it, can write it or can read it. Only a file of the superuser may be readable.
    public convenience init(
        contentsOf file: URL, maximumPerDomain: Int = 180, maximum: Int = 3_000,
        now: @escaping @Sendable () -> Date = { Date() }
    ) throws(NetworkError) {
        self.init(maximumPerDomain: maximumPerDomain, maximum: maximum, now: now)
        try read(file)
    }

    /// Writes the cookies that have an expiry date into a file, atomically. Only the owner can read the file.
    ///
    /// - Parameters:
    ///   - file: The file to write or replace. Its folder must exist.
    ///   - includingSessionCookies: True to write cookies without an expiry date too. Default false.
    /// - Throws: `NetworkError.Code.cannotWriteFile`.
    public func save(to file: URL, includingSessionCookies: Bool = false) throws(NetworkError) {
        let now = now()  // the app's code, without the lock
        // One at a time, so that none replaces the file of a later one.
        try saving.withLock { _ in
            Result { () throws(NetworkError) in try write(to: file, includingSessionCookies, at: now) }
        }.get()
    }

    private func write(to file: URL, _ includingSessionCookies: Bool, at now: Date) throws(NetworkError) {
        let (stores, resets) = state.withLock { state in
            state.files.insert(file)
            return (state.stores, state.resets)
        }
        let partitions = stores.map { name, store in
            let cookies = store.cookies(at: now).filter { includingSessionCookies || $0.expires != nil }
            return CookieFile.Partition(name: name, cookies: cookies.map(CookieFile.Entry.init))
        }
        let contents = CookieFile(
            partitions: partitions.filter { !$0.cookies.isEmpty }.sorted { ($0.name ?? "") < ($1.name ?? "") })
        do {
            try contents.write(to: file)
        } catch {
            let reason =
                "the cookies could not be written to \(file.path.quotedInFull): \(PrivateFile.cause(of: error))"
            throw NetworkError(.cannotWriteFile, reason: reason, underlying: error)
        }
        // A reset removed the file before it was written.
        if state.withLock({ $0.resets != resets }) {
            _ = Self.remove(file)
            try write(to: file, includingSessionCookies, at: now)
        }
    }

    /// Removes a file. If that fails, removes its cookies. Returns false if they remain.
    static func remove(_ file: URL) -> Bool {
        if (try? PrivateFile.remove(file)) != nil { return true }
        do {
            try JSONEncoder().encode(CookieFile(partitions: [])).write(to: file)
            return true
        } catch {
            let name = file.path.quotedInFull
            StandardError.write("Switchboard: the cookie file \(name) remains: \(error.localizedDescription)\n")
            return false
        }
    }

    private func read(_ file: URL) throws(NetworkError) {
        state.withLock { _ = $0.files.insert(file) }
        guard let contents = try CookieFile(readFrom: file) else { return }
        let now = now()
        for partition in contents.partitions { insert(partition.cookies.map(\.cookie), in: partition.name, at: now) }
    }
}

/// The contents of a cookie file.
private struct CookieFile: Codable {
    struct Partition: Codable {
        /// The partition, or nil for requests outside any environment.
        var name: String?
        var cookies: [Entry]
    }

    struct Entry: Codable {
        var name: String
        var value: String
        var domain: String
        var path: String
        var isHostOnly: Bool
        /// Seconds since 1970.
        var expires: Double?
        var isSecure: Bool
        var isHTTPOnly: Bool
        var sameSite: StoredCookie.SameSite?

        init(_ cookie: StoredCookie) {
            name = cookie.name
            value = cookie.value
            domain = cookie.domain
            path = cookie.path
            isHostOnly = cookie.isHostOnly
            // JSON has no infinity and no NaN. `fmin` returns the limit for both.
            expires = cookie.expires.map { fmin($0.timeIntervalSince1970, 1e15) }
            isSecure = cookie.isSecure
            isHTTPOnly = cookie.isHTTPOnly
            sameSite = cookie.sameSite
        }

        var cookie: StoredCookie {
            StoredCookie(
                name, value, domain: domain, path: path, includesSubdomains: !isHostOnly,
                expires: expires.map { Date(timeIntervalSince1970: $0) }, isSecure: isSecure, isHTTPOnly: isHTTPOnly,
                sameSite: sameSite)
        }
    }

    /// The maximum size of the file, in bytes.
    private static let maximumSize = 256 << 20

    var version = 1
    var partitions: [Partition]

    init(partitions: [Partition]) {
        self.partitions = partitions
    }

    /// Reads a file. Nil when it does not exist.
    init?(readFrom file: URL) throws(NetworkError) {
        func readError(_ problem: String, _ cause: (any Error)? = nil) -> NetworkError {
            NetworkError(
                .unreadableFile, reason: "the cookie file \(file.path.quotedInFull) \(problem)", underlying: cause)
        }
        let read: Data?
        do {
            read = try PrivateFile.read(file, limit: Self.maximumSize)
        } catch {
            throw readError("cannot be read: \(error.localizedDescription)", error)
        }
        guard let data = read else { return nil }
        // Omits the underlying error, which might quote a value.
        guard let contents = try? FastJSONDecoder().decode(CookieFile.self, from: data), contents.version == 1 else {
            throw readError("is damaged")
        }
        for entry in contents.partitions.lazy.flatMap(\.cookies) {
            if let fault = entry.cookie.fault(isStored: true) { throw readError("is damaged: a cookie \(fault)") }
        }
        self = contents
    }

    func write(to file: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        try PrivateFile.write(try encoder.encode(self), to: file, limit: Self.maximumSize)
    }
}
