import Foundation
import Switchboard

/// One page of ``PageSequence``.
public struct ResponsePage<Value: Sendable, Token: Sendable>: Sendable {
    /// What its body decoded to.
    public let value: Value
    /// The response it came in.
    public let response: NetworkResponse
    /// Where the following page is: store it, and the pages go on from there later, in another process for instance.
    /// Nil on the last page.
    public let next: Token?

    /// Makes a page, for a fake of yours.
    public init(value: Value, response: NetworkResponse, next: Token?) {
        self.value = value
        self.response = response
        self.next = next
    }
}

extension ResponsePage: Equatable where Value: Equatable, Token: Equatable {
    /// Compares value and next page; the response is not compared.
    public static func == (one: ResponsePage, other: ResponsePage) -> Bool {
        one.value == other.value && one.next == other.next
    }
}
