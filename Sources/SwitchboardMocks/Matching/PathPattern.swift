import Foundation
import Switchboard

/// A path whose segments may be wildcards.
struct PathPattern: Sendable {
    private let segments: [String]

    /// Creates a pattern. An empty text matches any path.
    init(_ text: Substring) {
        let segments = text.isEmpty ? ["**"] : Self.segments(of: text)
        self.segments = text.hasPrefix("/") || segments.first == "**" ? segments : ["**"] + segments
    }

    func matches(_ path: String) -> Bool {
        Self.match(segments[...], Self.segments(of: path[...])[...])
    }

    private static func segments(of path: Substring) -> [String] {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let rest = path.hasPrefix("/") ? parts.dropFirst() : parts[...]
        return rest.map { $0.removingPercentEncoding ?? $0 }
    }

    /// Matches segment by segment. Each `**` takes as few segments as the rest of the pattern allows.
    private static func match(_ pattern: ArraySlice<String>, _ path: ArraySlice<String>) -> Bool {
        guard let first = pattern.first else { return path.isEmpty }
        if first == "**" {
            let rest = pattern.dropFirst()
            guard let next = rest.firstIndex(of: "**") else {
                // The last wildcard takes all segments that the rest of the pattern does not need.
                guard path.count >= rest.count else { return false }
                return match(rest, path.suffix(rest.count))
            }
            let middle = pattern[rest.startIndex..<next]
            guard path.count >= middle.count else { return false }
            for start in path.startIndex...(path.endIndex - middle.count) {
                let end = start + middle.count
                if match(middle, path[start..<end]) { return match(pattern[next...], path[end...]) }
            }
            return false
        }
        guard let segment = path.first, first == "*" || first.hasPrefix(":") || first == segment else { return false }
        return match(pattern.dropFirst(), path.dropFirst())
    }
}
