import Foundation

/// The number of times a request left its origin, and the header fields that were removed.
package struct Departures: Sendable, Hashable {
    private(set) var count = 0
    private(set) var names: [String] = []
    /// Whether another site influenced the destination of the request.
    package private(set) var isCrossSite = false
    var isForeign = false

    mutating func add(_ names: [String], _ isSameSite: Bool) {
        count += 1
        self.names += names
        if !isSameSite { isCrossSite = true }
    }

    mutating func join(_ other: Departures) {
        count = max(count, other.count)
        names += other.names.filter { !names.contains($0) }
        isCrossSite = isCrossSite || other.isCrossSite
        isForeign = isForeign || other.isForeign
    }

    /// The removed fields, as the end of a sentence. Nil if none was removed.
    var text: String? {
        names.isEmpty ? nil : "to another origin, without " + names.joined(separator: ", ")
    }
}
