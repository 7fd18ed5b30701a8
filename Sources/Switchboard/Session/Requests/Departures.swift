import Foundation

/// How often a request left an origin, and which of its header fields stayed behind.
package struct Departures: Sendable, Hashable {
    private(set) var count = 0
    private(set) var names: [String] = []
    /// Whether another site had a say in where the request goes.
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

    /// For the end of a sentence; nil when nothing was left out.
    var text: String? {
        names.isEmpty ? nil : "to another origin, without " + names.joined(separator: ", ")
    }
}
