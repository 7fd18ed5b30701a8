import Foundation

/// The endpoint of a request, and what it stated when the request was built.
///
/// An endpoint may belong to an actor, so no other thread may read its members again.
package struct EndPointRecord: @unchecked Sendable {  // `endPoint` is only reflected, cast and compared
    /// The endpoint.
    package let endPoint: Any
    /// The path below the base URL, before it is escaped.
    package let path: String
    package let method: HTTPMethod
    /// The items of the task, escaped. Those of path and base URL are not part of it.
    package let query: [UInt8]
    /// The body of the task. Nil for none.
    package let body: (any HTTPBody)?

    package init(
        _ endPoint: Any, path: String = "", method: HTTPMethod = .get, query: [UInt8] = [],
        body: (any HTTPBody)? = nil
    ) {
        self.endPoint = endPoint
        self.path = path
        self.method = method
        self.query = query
        self.body = body
    }

    /// The type and case, without associated values, which may be secrets: `MovieApi.newMovies`.
    package var name: String { Self.name(of: endPoint) }

    package static func name(of endPoint: Any) -> String {
        let type = String(describing: type(of: endPoint))
        let mirror = Mirror(reflecting: endPoint)
        guard mirror.displayStyle == .enum else { return type }
        return "\(type).\(mirror.children.first?.label ?? String(describing: endPoint))"
    }
}
