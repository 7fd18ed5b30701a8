import Foundation
import Switchboard

// Any endpoint, sent as by a router of its type.
extension NetworkManager {
    /// Returns the pages of an endpoint whose server links to the next page; see
    /// `NetworkRouter.pages(of:as:from:isolation:)`.
    public func pages<EndPoint: EndPointType, Value: Decodable & Sendable>(
        of endPoint: EndPoint, as type: Value.Type, from url: URL? = nil, isolation: isolated (any Actor)? = #isolation
    ) -> PageSequence<Value, URL> {
        ownRouter().pages(of: endPoint, as: type, from: url)
    }

    /// Returns the pages of an endpoint whose server links to the next page, decoded on the caller's actor.
    public func pages<EndPoint: EndPointType, Value: Decodable>(
        of endPoint: EndPoint, as type: Value.Type, from url: URL? = nil, isolation: isolated any Actor = #isolation
    ) -> PageSequence<Value, URL> {
        ownRouter().pages(of: endPoint, as: type, from: url)
    }

    /// Returns the pages of endpoints with a page number or an offset; see
    /// `NetworkRouter.pages(as:from:by:while:of:isolation:)`.
    public func pages<EndPoint: EndPointType, Value: Decodable & Sendable>(
        as type: Value.Type, from number: Int, by step: Int = 1, while isFollowed: @escaping @Sendable (Value) -> Bool,
        of endPoint: @escaping @Sendable (Int) -> EndPoint, isolation: isolated (any Actor)? = #isolation
    ) -> PageSequence<Value, Int> {
        ownRouter().pages(as: type, from: number, by: step, while: isFollowed, of: endPoint)
    }

    /// Returns the pages of endpoints with a page number or an offset, decoded on the caller's actor.
    public func pages<EndPoint: EndPointType, Value: Decodable>(
        as type: Value.Type, from number: Int, by step: Int = 1, while isFollowed: @escaping @Sendable (Value) -> Bool,
        of endPoint: @escaping @Sendable (Int) -> EndPoint, isolation: isolated any Actor = #isolation
    ) -> PageSequence<Value, Int> {
        ownRouter().pages(as: type, from: number, by: step, while: isFollowed, of: endPoint)
    }

    /// Returns the pages of endpoints with a cursor; see `NetworkRouter.pages(as:after:next:of:isolation:)`.
    public func pages<EndPoint: EndPointType, Value: Decodable & Sendable, Cursor: Hashable & Sendable>(
        as type: Value.Type, after cursor: Cursor? = nil, next: @escaping @Sendable (Value) -> Cursor?,
        of endPoint: @escaping @Sendable (Cursor?) -> EndPoint, isolation: isolated (any Actor)? = #isolation
    ) -> PageSequence<Value, Cursor> {
        ownRouter().pages(as: type, after: cursor, next: next, of: endPoint)
    }

    /// Returns the pages of endpoints with a cursor, decoded on the caller's actor.
    public func pages<EndPoint: EndPointType, Value: Decodable, Cursor: Hashable & Sendable>(
        as type: Value.Type, after cursor: Cursor? = nil, next: @escaping @Sendable (Value) -> Cursor?,
        of endPoint: @escaping @Sendable (Cursor?) -> EndPoint, isolation: isolated any Actor = #isolation
    ) -> PageSequence<Value, Cursor> {
        ownRouter().pages(as: type, after: cursor, next: next, of: endPoint)
    }
}
