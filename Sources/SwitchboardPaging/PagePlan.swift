import Foundation
import Switchboard

/// The steps of one kind of paging.
struct PagePlan<Value, Token: Hashable & Sendable>: Sendable {
    /// The token of the first page, or nil for the unchanged endpoint.
    let first: Token?
    /// Whether a page with the same body as the previous page counts as a repetition.
    let comparesBodies: Bool
    /// The environment of all requests. Nil if none is set.
    let environment: CallEnvironment?
    /// Sends the request for a page, and records it in the ``SentPages``.
    let send: @Sendable (Token?, SentPages) async throws -> NetworkResponse
    let decode: @Sendable (NetworkResponse) async throws -> Transferred<Value>
    /// Returns the token of the page that follows, or nil after the last one.
    let next: @Sendable (Value, NetworkResponse, Token?) throws -> Token?
}
