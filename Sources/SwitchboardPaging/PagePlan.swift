import Foundation
import Switchboard

/// How a kind of paging goes from page to page.
struct PagePlan<Value: Sendable, Token: Hashable & Sendable>: Sendable {
    /// The token of the first page; nil for the endpoint as it is.
    let first: Token?
    /// Whether a page with the body of the one before it is that page again.
    let comparesBodies: Bool
    /// The environment of an iteration that begins at this moment: all of its pages are asked for there.
    let environment: @Sendable () -> CallEnvironment?
    /// Sends the request for a page, and leaves it on the trail.
    let send: @Sendable (Token?, PageTrail) async throws -> NetworkResponse
    /// The token of the page that follows; nil behind the last one.
    let next: @Sendable (Value, NetworkResponse, Token?) throws -> Token?
}
