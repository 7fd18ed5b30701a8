import SwitchboardText

/// The checksums by which stored responses are removed. A collision removes one response too many.
struct CacheMarks: Sendable, Hashable {
    /// The URL without its query.
    let place: UInt64
    let url: UInt64
    let partition: UInt64

    init(place: UInt64, url: UInt64, partition: UInt64) {
        self.place = place
        self.url = url
        self.partition = partition
    }

    init(_ key: CacheKey) {
        place = Self.place(key.url)
        url = CacheChecksum.of(key.url)
        partition = CacheChecksum.of(key.partition)
    }

    static func place(_ url: String) -> UInt64 {
        var url = url
        return url.withUTF8 { bytes in
            let query = bytes.firstPlace(of: UInt8(ascii: "?")) ?? bytes.count
            let end = min(query, bytes.firstPlace(of: UInt8(ascii: "#")) ?? query)
            return CacheChecksum.of(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[..<end]))
        }
    }
}
