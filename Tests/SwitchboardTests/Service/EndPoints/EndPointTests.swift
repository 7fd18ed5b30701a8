import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct EndPointTests {
    @Test("an enum with associated values is an API with a case per endpoint", .requirement("S3.1"))
    func enumEndPoints() async throws {
        let session = StubSession { _ in .json("{}") }
        let router = Router<Shop>(session: session)
        _ = try await router.response(for: .item(id: 7))
        _ = try await router.response(for: .search("green tea", page: 2))
        #expect(session.requests.map(\.method) == [.get, .get])
        #expect(
            session.requests.map(\.url?.absoluteString) == [
                "https://shop.example.com/v1/items/7", "https://shop.example.com/v1/items?q=green%20tea&page=2",
            ])
    }

    @Test("a struct is an endpoint too, for the same router type", .requirement("S3.1"))
    func structEndPoints() async throws {
        let session = StubSession { _ in .json(#"{"ok":true}"#) }
        let status = try await Router<Ping>(session: session).send(Ping(node: "a/b"))
        #expect(status == ["ok": true])
        #expect(session.requests.map(\.url?.absoluteString) == ["https://shop.example.com/ping/a%2Fb"])
    }

    @Test("an endpoint needs only base URL and path; the rest has defaults", .requirement("S4.2", "S3.1"))
    func defaults() throws {
        let request = try Router<Shop>(session: StubSession()).makeRequest(for: .item(id: 7))
        #expect(request.method == .get)
        #expect(request.body.isEmpty)
        #expect(request.url?.query == nil)
        #expect(request.headers == ["Accept": "application/json"])
    }

    @Test("properties of either optionality are used, never silently ignored", .requirement("S4.2"))
    func otherOptionality() throws {
        let request = try Router<AllOptional>(session: StubSession()).makeRequest(for: AllOptional())
        #expect(request.method == .put)
        #expect(request.headers["X-Kind"] == "optional")
        #expect(request.timeouts.idle == .seconds(3))
        #expect(try request.body.encode() == Data("raw".utf8))

        let other = try Router<NoneOptional>(session: StubSession()).makeRequest(for: NoneOptional())
        #expect(other.headers["X-Kind"] == "plain dictionary")
    }

    @Test("a nil property means the default", .requirement("S4.2"))
    func nilMeansDefault() throws {
        let request = try Router<AllNil>(session: StubSession()).makeRequest(for: AllNil())
        #expect(request.method == .get)
        #expect(request.body.isEmpty)
        #expect(request.timeouts == .standard)
        #expect(request.headers == ["Accept": "application/json"])
    }

    @Test("makeRequest sends nothing and can be repeated", .requirement("S3.16"))
    func makingIsPure() throws {
        let session = StubSession { _ in .json("{}") }
        let router = Router<Shop>(session: session)
        let one = try router.makeRequest(for: .search("tea", page: 1))
        let other = try router.makeRequest(for: .search("tea", page: 1))
        #expect(one.url == other.url)
        #expect(one.headers == other.headers)
        #expect(one.id != other.id)
        #expect(session.requests.isEmpty)
    }
}

private enum Shop: EndPointType {
    case item(id: Int)
    case search(String, page: Int)

    var baseURL: URL { URL(text: "https://shop.example.com/v1") }
    var path: String {
        switch self {
        case .item(let id): "items/\(id)"
        case .search: "items"
        }
    }
    var task: HTTPTask {
        switch self {
        case .item: .request
        case .search(let text, let page): .requestParameters(urlParameters: ["q": text, "page": page])
        }
    }
}

private struct Ping: TypedEndPoint {
    typealias Response = [String: Bool]
    let node: String
    var baseURL: URL { URL(text: "https://shop.example.com/") }
    var path: String { "ping/\(segment: node)" }
}

private struct AllOptional: EndPointType {
    var baseURL: URL? { URL(text: "https://shop.example.com") }
    var path: String { "all" }
    var httpMethod: HTTPMethod? { .put }
    var task: HTTPTask? { .requestBody(DataBody(Data("raw".utf8))) }
    var headers: [String: String]? { ["X-Kind": "optional"] }
    var options: RequestOptions? { RequestOptions { $0.timeouts.idle = .seconds(3) } }
}

private struct NoneOptional: EndPointType {
    var baseURL: URL { URL(text: "https://shop.example.com") }
    var path: String { "none" }
    var headers: [String: String] { ["X-Kind": "plain dictionary"] }
}

private struct AllNil: EndPointType {
    var baseURL: URL { URL(text: "https://shop.example.com") }
    var path: String { "nil" }
    var httpMethod: HTTPMethod? { nil }
    var task: HTTPTask? { nil }
    var headers: HTTPHeaders? { nil }
    var options: RequestOptions? { nil }
}
