import Foundation
import Switchboard
import SwitchboardText

extension RequestMatcher {
    /// Matches the requests that an endpoint makes, whatever its base URL. The endpoint's path must be the end of the
    /// request's path, and its query items must be among the request's. Method and body must be equal. Header fields
    /// and streamed bodies are not compared. A `URLEndPoint` also needs its origin and its whole path.
    ///
    /// A request that a router made carries its endpoint, which must have the same type. It must be equal if the type
    /// is `Equatable`; otherwise both endpoints must make the same method, path, query and body. Interceptors may add
    /// to the request.
    ///
    /// A redirect, a link to the next page or an interceptor that changes the path, the method or a query item makes a
    /// request without an endpoint. For such a request, and in a ``MockServer``, the endpoint's body is compared with
    /// the bytes that arrive. They differ if the router has another encoder or compresses bodies.
    public static func endPoint<EndPoint: EndPointType>(_ endPoint: EndPoint) -> RequestMatcher {
        let wanted = Result { () throws(NetworkError) in try BuiltRequest(endPoint) }
        let name = (try? wanted.get().description) ?? "\(EndPoint.self)"
        let record = EndPointRecord(endPoint)
        return any.adding(
            Condition(words: name) { request in
                switch wanted {
                case .failure(let error): ["the stub's endpoint makes no request: \(error.summary)"]
                case .success(let wanted): wanted.differences(from: request, record)
                }
            })
    }
}

/// The request of an endpoint, without its base URL. That of a `URLEndPoint` has its URL.
private struct BuiltRequest: CustomStringConvertible {
    let request: NetworkRequest
    let description: String
    /// The encoded body of a stub's endpoint. Nil for a request's, whose body is encoded only to be compared.
    private let encodedBody: Data?
    /// The URL of a `URLEndPoint`, with the host that its header fields name. Nil for other endpoints.
    private let url: URL?

    init(_ endPoint: some EndPointType) throws(NetworkError) {
        var builder = RequestBuilder(headers: [:])
        if !(endPoint is URLEndPoint) { builder.replacedBaseURL = "http://stub.invalid/" }
        try self.init(builder.makeRequest(for: endPoint), of: endPoint, isStub: true)
    }

    init(_ record: EndPointRecord, withBody: Bool = true) throws(NetworkError) {
        let endPoint = RecordedEndPoint(record: record, body: withBody ? record.body : nil)
        try self.init(RequestBuilder(headers: [:]).makeRequest(for: endPoint), of: record.endPoint, isStub: false)
    }

    private init(_ request: NetworkRequest, of endPoint: Any, isStub: Bool) throws(NetworkError) {
        self.request = request
        encodedBody = isStub ? Self.encoded(request.body) : nil
        url = endPoint is URLEndPoint ? request.recorded(body: nil, index: 0).url : nil
        let query = request.query.map { "?\(Redaction.standard.form($0))" } ?? ""
        let target = url.map { Redaction.standard.url($0.absoluteString) } ?? "\(request.path.dropFirst())\(query)"
        description = "\(EndPointRecord.name(of: endPoint)) (\(request.method) \(target))"
    }

    private static func encoded(_ body: any HTTPBody) -> Data {
        let encoded = body.isEmpty || body.isStreamed ? nil : try? body.encode()
        return encoded ?? Data()
    }

    private var body: Data { encodedBody ?? Self.encoded(request.body) }

    private var items: [URLQueryItem] { FormBody.decode(request.query ?? "") }

    private func pathDifference(from sent: RecordedRequest) -> [String] {
        guard let url else {
            return PathPattern.ends(sent.path, with: request.path.dropFirst())
                ? [] : ["the path is \(Redaction.standard.url(sent.path))"]
        }
        let sentURL = sent.url
        return sentURL?.hasSameOrigin(as: url) == true && PathPattern.areEqual(sent.path, request.path)
            ? [] : ["the URL is \(Redaction.standard.url(sentURL?.absoluteString ?? sent.target))"]
    }

    func differences(from sent: RecordedRequest, _ wanted: EndPointRecord) -> [String] {
        let path = pathDifference(from: sent)
        // A request after a redirect or a link to the next page is not the one of its endpoint.
        guard let record = sent.endPoint.value, let bodiless = try? BuiltRequest(record, withBody: false),
            bodiless.pathDifference(from: sent).isEmpty, bodiless.methodAndQueryDifferences(from: sent).isEmpty
        else { return path + differences(from: sent) }
        guard type(of: record.endPoint) == type(of: wanted.endPoint) else {
            return path + ["the endpoint is a \(type(of: record.endPoint))"]
        }
        // Nil when the type is not `Equatable`, or only on an actor.
        let isEqual = (record.endPoint as? any Equatable)?.equals(wanted.endPoint)
        if isEqual == true { return path }
        // The options of a request change its body, but not the bodies of the endpoints.
        guard let own = request.endPoint, let own = try? BuiltRequest(own), let other = try? BuiltRequest(record) else {
            return path + ["the endpoint makes no request"]
        }
        let differences = path + own.differences(from: other, isAtPath: path.isEmpty)
        return differences.isEmpty && isEqual == false ? ["the endpoint is not equal"] : differences
    }

    private func methodAndQueryDifferences(from sent: RecordedRequest) -> [String] {
        let method = sent.method == request.method ? [] : ["the method is \(sent.method)"]
        let others = sent.queryItems
        let missing = items.filter { item in !others.contains(where: item.hasBytes) }
        return method + missing.map { MessageText.missing($0, in: others) }
    }

    /// Returns the differences from a request whose endpoint is unknown.
    private func differences(from sent: RecordedRequest) -> [String] {
        var differences = methodAndQueryDifferences(from: sent)
        if !request.body.isStreamed, body != sent.body {
            differences.append("the body is \(MessageText.body(sent.body, not: body))")
        }
        return differences
    }

    private func differences(from other: BuiltRequest, isAtPath: Bool) -> [String] {
        var differences = request.method == other.request.method ? [] : ["the method is \(other.request.method)"]
        if isAtPath, request.path != other.request.path {
            differences.append("the endpoint's path is \(other.request.path.dropFirst())")
        }
        differences += queryDifferences(from: other.items)
        let (body, otherBody) = (self.body, other.body)
        if body != otherBody {
            let difference = MessageText.difference(MessageText.body(otherBody), MessageText.body(body))
            differences.append("the body is \(difference)")
        }
        return differences
    }

    /// Returns one line per name whose values differ. Only the order among values of the same name counts.
    private func queryDifferences(from others: [URLQueryItem]) -> [String] {
        let wanted = Dictionary(grouping: items) { ExactText($0.name) }
        let sent = Dictionary(grouping: others) { ExactText($0.name) }
        var names: Set<ExactText> = []
        return (items + others).map { ExactText($0.name) }.filter { names.insert($0).inserted }.compactMap { name in
            guard let values = wanted[name] else { return "there is a query item \(name.text) too" }
            let others = sent[name] ?? []
            return values.elementsEqual(others) { $0.hasBytes(of: $1) }
                ? nil : MessageText.different(values, from: others)
        }
    }
}

/// An endpoint with the members that a router read from another one.
private struct RecordedEndPoint: EndPointType {
    let record: EndPointRecord
    let body: (any HTTPBody)?

    var baseURL: String { (record.endPoint as? URLEndPoint)?.baseURL.absoluteString ?? "http://stub.invalid/" }
    var httpMethod: HTTPMethod { record.method }
    var task: HTTPTask { body.map { .requestBody($0) } ?? .request }
    /// A URL's host may be that of a field.
    var headers: HTTPHeaders? { (record.endPoint as? URLEndPoint)?.headers }
    var path: String {
        guard !record.query.isEmpty else { return record.path }
        return record.path + (record.path.contains("?") ? "&" : "?") + String(decoding: record.query, as: UTF8.self)
    }
}

extension Equatable {
    fileprivate func equals(_ other: Any) -> Bool {
        (other as? Self) == self
    }
}
