import Foundation
import Switchboard

extension RequestMatcher {
    /// The requests that an endpoint makes, whatever its base URL: its method, its path as the end of theirs, its query
    /// items among theirs, and its body.
    ///
    /// A request that a router made knows its endpoint. It must be of the same type then, and equal where the type is
    /// `Equatable`; elsewhere both must make the same method, path, query and body. Interceptors may have added to the
    /// request, and a redirect to another path is another request.
    public static func endPoint<EndPoint: EndPointType>(_ endPoint: EndPoint) -> RequestMatcher {
        let wanted = Result { () throws(NetworkError) in try Sketch(endPoint) }
        let name = (try? wanted.get().name) ?? "\(EndPoint.self)"
        return any.adding(name) { request in
            switch wanted {
            case .failure(let error): "the stub's endpoint makes no request: \(error.summary)"
            case .success(let wanted): wanted.difference(from: request, endPoint)
            }
        }
    }
}

/// What an endpoint asks for, its base URL left out.
private struct Sketch {
    let request: NetworkRequest
    let body: Data
    let name: String

    init(_ endPoint: some EndPointType) throws(NetworkError) {
        request = try RequestBuilder(headers: [:]).makeRequest(for: Rebased(endPoint: endPoint))
        let encoded = request.body.isEmpty || request.body.isStreamed ? nil : try? request.body.encode()
        body = encoded ?? Data()
        let query = request.query.map { "?\(Redaction.standard.form($0))" } ?? ""
        name = "\(type(of: endPoint)) (\(request.method) \(request.path.dropFirst())\(query))"
    }

    var items: [URLQueryItem] { RecordedRequest.items(of: (request.query ?? "")[...]) }

    func difference<EndPoint: EndPointType>(from sent: RecordedRequest, _ endPoint: EndPoint) -> String? {
        let path = Redaction.standard.url(sent.path)
        guard PathPattern(request.path.dropFirst()[...]).matches(sent.path) else { return "the path is \(path)" }
        if let asked = sent.endPoint.value {
            guard let asked = asked as? EndPoint else { return "the endpoint is a \(type(of: asked))" }
            if let same = isEqual(asked, endPoint), same { return nil }
            guard let other = try? Sketch(asked) else { return nil }
            return difference(from: other)
        }
        if sent.method != request.method { return "the method is \(sent.method)" }
        for item in items where !sent.queryItems.contains(item) { return missing(item, in: sent.queryItems) }
        return body.isEmpty || body == sent.body ? nil : "the body is \(Shown.body(sent))"
    }

    private func difference(from other: Sketch) -> String? {
        if request.method != other.request.method { return "the method is \(other.request.method)" }
        if request.path != other.request.path { return "the endpoint's path is \(other.request.path.dropFirst())" }
        for item in items where !other.items.contains(item) { return missing(item, in: other.items) }
        for item in other.items where !items.contains(item) { return "there is a query item \(item.name) too" }
        return body == other.body ? nil : "the endpoint's body is another"
    }

    private func missing(_ item: URLQueryItem, in items: [URLQueryItem]) -> String {
        let values = items.filter { $0.name == item.name }.map { $0.value ?? "" }
        guard !values.isEmpty else { return "there is no query item \(item.name)" }
        return "query \(item.name) is \(Shown.values(values, of: item.name))"
            + ", not \(Shown.value(item.value ?? "", of: item.name))"
    }

    /// Nil when the type does not say.
    private func isEqual<Value>(_ one: Value, _ other: Value) -> Bool? {
        guard let one = one as? any Equatable else { return nil }
        return one.equals(other)
    }
}

extension Equatable {
    fileprivate func equals(_ other: Any) -> Bool {
        (other as? Self) == self
    }
}

/// An endpoint at a base URL that stands for any.
private struct Rebased<EndPoint: EndPointType>: EndPointType {
    let endPoint: EndPoint

    var baseURL: String { "http://stub.invalid/" }
    var path: String { endPoint.path }
    var httpMethod: EndPoint.MethodProperty { get throws { try endPoint.httpMethod } }
    var task: EndPoint.TaskProperty { get throws { try endPoint.task } }
    var headers: EndPoint.HeadersProperty { get throws { try endPoint.headers } }
    var options: EndPoint.OptionsProperty { get throws { try endPoint.options } }
}
