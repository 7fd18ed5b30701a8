import Foundation

/// The history of a request and its rules for other origins. It is stored in the options, and stays with the request
/// when other options are assigned.
package struct RequestRoute: Sendable {
    var departures = Departures()
    /// Conditions for requests to other origins that carry the body. All must hold. Empty if the body has only the
    /// endpoint's own content.
    package var bodyRules: [@Sendable (NetworkRequest) -> Bool] = []

    /// Whether the request has neither history nor rules.
    var isEmpty: Bool { bodyRules.isEmpty && departures == Departures() }

    /// Returns this value joined with what `other` adds.
    func joined(_ other: RequestRoute) -> RequestRoute {
        var result = self
        if departures != other.departures { result.departures.join(other.departures) }
        if bodyRules.isEmpty { result.bodyRules = other.bodyRules }
        return result
    }
}
