import Foundation

/// What happened to a request on its way. It goes along with the options, and stays with the request when others are
/// assigned.
package struct RequestTrail: Sendable {
    var departures = Departures()
    /// Which requests at other origins may carry the body; all must agree. None when it holds nothing but the endpoint's own.
    package var bodyRules: [@Sendable (NetworkRequest) -> Bool] = []

    /// Whether it says nothing.
    var isEmpty: Bool { bodyRules.isEmpty && departures == Departures() }

    /// This trail, with what another one says beyond it.
    func joined(_ other: RequestTrail) -> RequestTrail {
        var result = self
        if departures != other.departures { result.departures.join(other.departures) }
        if bodyRules.isEmpty { result.bodyRules = other.bodyRules }
        return result
    }
}
