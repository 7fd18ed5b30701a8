import Foundation

/// A path as a list of segments.
struct CachePath: Sendable {
    private let segments: [String]

    var isEmpty: Bool { segments.isEmpty }

    init(_ path: String) {
        segments = path.prefix { $0 != "?" && $0 != "#" }.split(separator: "/")
            .map { $0.removingPercentEncoding ?? String($0) }
    }

    func ends(with other: CachePath) -> Bool {
        !other.segments.isEmpty && segments.suffix(other.segments.count) == other.segments[...]
    }

    func contains(_ other: CachePath) -> Bool {
        let count = other.segments.count
        guard count > 0, count <= segments.count else { return false }
        return (0...(segments.count - count)).contains { segments[$0..<($0 + count)] == other.segments[...] }
    }
}
