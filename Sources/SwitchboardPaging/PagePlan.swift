import Foundation
import Switchboard

/// The steps of one kind of paging.
struct PagePlan<Value: Sendable, Token: Hashable & Sendable>: Sendable {
    /// The token of the first page, or nil for the unchanged endpoint.
    let first: Token?
    /// Whether a page with the same body as the previous page counts as a repetition.
    let comparesBodies: Bool
    /// Returns the environment of an iteration that begins now. All of its pages use this environment.
    let environment: @Sendable () -> CallEnvironment?
    /// Sends the request for a page, and records it in the ``SentPages``.
    let send: @Sendable (Token?, SentPages) async throws -> NetworkResponse
    /// Returns the token of the page that follows, or nil after the last one.
    let next: @Sendable (Value, NetworkResponse, Token?) throws -> Token?
}
