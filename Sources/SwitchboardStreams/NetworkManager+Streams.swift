import Foundation
import Switchboard
import SwitchboardJSON

// The methods of a router, for endpoints of any type.
extension NetworkManager {
    /// Returns the elements of one large JSON array as they arrive; see
    /// `NetworkRouter.elements(for:as:at:options:decoder:limit:isolation:)`.
    public func elements<EndPoint: EndPointType, Value: Decodable & Sendable>(
        for endPoint: EndPoint, as type: Value.Type, at path: [String] = [], options: RequestOptions = RequestOptions(),
        decoder: (any ResponseDecoder)? = nil, limit: Int = 1 << 20, isolation: isolated (any Actor)? = #isolation
    ) -> ResponseSequence<Value> {
        ownRouter().elements(
            for: endPoint, as: type, at: path, options: options, decoder: decoder, limit: limit)
    }

    /// Returns the elements of an array, decoded on the caller's actor.
    public func elements<EndPoint: EndPointType, Value: Decodable>(
        for endPoint: EndPoint, as type: Value.Type, at path: [String] = [], options: RequestOptions = RequestOptions(),
        decoder: (any ResponseDecoder)? = nil, limit: Int = 1 << 20, isolation: isolated any Actor = #isolation
    ) -> ResponseSequence<Value> {
        ownRouter().elements(
            for: endPoint, as: type, at: path, options: options, decoder: decoder, limit: limit)
    }

    /// Returns the values of a body with one JSON text per line; see
    /// `NetworkRouter.jsonLines(for:as:options:decoder:limit:isolation:)`.
    public func jsonLines<EndPoint: EndPointType, Value: Decodable & Sendable>(
        for endPoint: EndPoint, as type: Value.Type, options: RequestOptions = RequestOptions(),
        decoder: (any ResponseDecoder)? = nil, limit: Int = 1 << 20, isolation: isolated (any Actor)? = #isolation
    ) -> ResponseSequence<Value> {
        ownRouter().jsonLines(for: endPoint, as: type, options: options, decoder: decoder, limit: limit)
    }

    /// Returns the values of a body with one JSON text per line, decoded on the caller's actor.
    public func jsonLines<EndPoint: EndPointType, Value: Decodable>(
        for endPoint: EndPoint, as type: Value.Type, options: RequestOptions = RequestOptions(),
        decoder: (any ResponseDecoder)? = nil, limit: Int = 1 << 20, isolation: isolated any Actor = #isolation
    ) -> ResponseSequence<Value> {
        ownRouter().jsonLines(for: endPoint, as: type, options: options, decoder: decoder, limit: limit)
    }

    /// Returns the server-sent events of any endpoint, and reconnects as needed; see
    /// `NetworkRouter.events(for:lastEventID:options:limit:isolation:)`.
    public func events<EndPoint: EndPointType>(
        for endPoint: EndPoint, lastEventID: String = "", options: RequestOptions = RequestOptions(),
        limit: Int = 1 << 20, isolation: isolated (any Actor)? = #isolation
    ) -> ResponseSequence<ServerSentEvent> {
        ownRouter().events(for: endPoint, lastEventID: lastEventID, options: options, limit: limit)
    }

    /// Returns the decoded data of any endpoint's server-sent events; see
    /// `NetworkRouter.events(for:as:until:decoder:lastEventID:options:limit:isolation:)`.
    public func events<EndPoint: EndPointType, Value: Decodable & Sendable>(
        for endPoint: EndPoint, as type: Value.Type, until last: String? = nil, decoder: (any ResponseDecoder)? = nil,
        lastEventID: String = "", options: RequestOptions = RequestOptions(), limit: Int = 1 << 20,
        isolation: isolated (any Actor)? = #isolation
    ) -> ResponseSequence<Value> {
        ownRouter().events(
            for: endPoint, as: type, until: last, decoder: decoder, lastEventID: lastEventID, options: options,
            limit: limit)
    }

    /// Returns the decoded data of any endpoint's server-sent events, decoded on the caller's actor.
    public func events<EndPoint: EndPointType, Value: Decodable>(
        for endPoint: EndPoint, as type: Value.Type, until last: String? = nil, decoder: (any ResponseDecoder)? = nil,
        lastEventID: String = "", options: RequestOptions = RequestOptions(), limit: Int = 1 << 20,
        isolation: isolated any Actor = #isolation
    ) -> ResponseSequence<Value> {
        ownRouter().events(
            for: endPoint, as: type, until: last, decoder: decoder, lastEventID: lastEventID, options: options,
            limit: limit)
    }
}

// The methods of a router, for endpoints of any type.
extension NetworkManager {
    /// Returns the pages of an endpoint whose server links to the next page; see
    /// `NetworkRouter.pages(for:as:from:options:isolation:)`.
    public func pages<EndPoint: EndPointType, Value: Decodable & Sendable>(
        for endPoint: EndPoint, as type: Value.Type, from url: URL? = nil,
        options: RequestOptions = RequestOptions(), isolation: isolated (any Actor)? = #isolation
    ) -> PageSequence<Value, URL> {
        ownRouter().pages(for: endPoint, as: type, from: url, options: options)
    }

    /// Returns the pages of an endpoint whose server links to the next page, decoded on the caller's actor.
    public func pages<EndPoint: EndPointType, Value: Decodable>(
        for endPoint: EndPoint, as type: Value.Type, from url: URL? = nil,
        options: RequestOptions = RequestOptions(), isolation: isolated any Actor = #isolation
    ) -> PageSequence<Value, URL> {
        ownRouter().pages(for: endPoint, as: type, from: url, options: options)
    }

    /// Returns the pages of endpoints with a page number or an offset; see
    /// `NetworkRouter.pages(as:from:by:while:for:options:isolation:)`.
    public func pages<EndPoint: EndPointType, Value: Decodable & Sendable>(
        as type: Value.Type, from number: Int, by step: Int = 1, while isFollowed: @escaping @Sendable (Value) -> Bool,
        for endPoint: @escaping @Sendable (Int) -> EndPoint, options: RequestOptions = RequestOptions(),
        isolation: isolated (any Actor)? = #isolation
    ) -> PageSequence<Value, Int> {
        ownRouter().pages(as: type, from: number, by: step, while: isFollowed, for: endPoint, options: options)
    }

    /// Returns the pages of endpoints with a page number or an offset, decoded on the caller's actor.
    public func pages<EndPoint: EndPointType, Value: Decodable>(
        as type: Value.Type, from number: Int, by step: Int = 1, while isFollowed: @escaping @Sendable (Value) -> Bool,
        for endPoint: @escaping @Sendable (Int) -> EndPoint, options: RequestOptions = RequestOptions(),
        isolation: isolated any Actor = #isolation
    ) -> PageSequence<Value, Int> {
        ownRouter().pages(as: type, from: number, by: step, while: isFollowed, for: endPoint, options: options)
    }

    /// Returns the pages of endpoints with a cursor; see `NetworkRouter.pages(as:after:next:for:options:isolation:)`.
    public func pages<EndPoint: EndPointType, Value: Decodable & Sendable, Cursor: Hashable & Sendable>(
        as type: Value.Type, after cursor: Cursor? = nil, next: @escaping @Sendable (Value) -> Cursor?,
        for endPoint: @escaping @Sendable (Cursor?) -> EndPoint, options: RequestOptions = RequestOptions(),
        isolation: isolated (any Actor)? = #isolation
    ) -> PageSequence<Value, Cursor> {
        ownRouter().pages(as: type, after: cursor, next: next, for: endPoint, options: options)
    }

    /// Returns the pages of endpoints with a cursor, decoded on the caller's actor.
    public func pages<EndPoint: EndPointType, Value: Decodable, Cursor: Hashable & Sendable>(
        as type: Value.Type, after cursor: Cursor? = nil, next: @escaping @Sendable (Value) -> Cursor?,
        for endPoint: @escaping @Sendable (Cursor?) -> EndPoint, options: RequestOptions = RequestOptions(),
        isolation: isolated any Actor = #isolation
    ) -> PageSequence<Value, Cursor> {
        ownRouter().pages(as: type, after: cursor, next: next, for: endPoint, options: options)
    }
}
