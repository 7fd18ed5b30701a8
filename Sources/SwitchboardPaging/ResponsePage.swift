import Foundation
import Switchboard

/// One page of a ``PageSequence``.
public struct ResponsePage<Value, Token> {
    /// The decoded body.
    public let value: Value
    /// The response that contained the page.
    public let response: NetworkResponse
    /// The token of the next page, or nil on the last page. Store it to resume the pages later, even in another
    /// process.
    public let next: Token?

    /// Creates a page, for mocks.
    public init(value: Value, response: NetworkResponse, next: Token?) {
        self.value = value
        self.response = response
        self.next = next
    }
}

extension ResponsePage: Sendable where Value: Sendable, Token: Sendable {}

extension ResponsePage: Equatable where Value: Equatable, Token: Equatable {
    /// Compares value and next page, but not the response.
    public static func == (one: ResponsePage, other: ResponsePage) -> Bool {
        one.value == other.value && one.next == other.next
    }
}
