import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// The `Accept` field by the type of the value.
struct RequestAcceptTests {
    private static let endPoint = URLEndPoint(.get, URL(text: "http://h.test/page"))

    @Test("text and bytes are accepted in every media type, and a model as JSON")
    func accept() async throws {
        let stub = StubSession { _ in .text("1") }
        let router = Router<URLEndPoint>(session: stub)
        _ = try await router.request(Self.endPoint, as: String.self)
        _ = try await router.request(Self.endPoint, as: Data.self)
        _ = try await router.request(Self.endPoint, as: String?.self)
        _ = try await router.request(Self.endPoint, as: Int.self)
        #expect(stub.requests.map { $0.headers["Accept"] } == ["*/*", "*/*", "*/*", "application/json"])
    }

    @Test("a media type of the manager or the endpoint stays")
    func own() async throws {
        let stub = StubSession { _ in .text("1") }
        let router = Router<URLEndPoint>(
            session: stub, headers: [.accept("application/vnd.own+json")])
        _ = try await router.request(Self.endPoint, as: String.self)
        let own = URLEndPoint(.get, URL(text: "http://h.test/page"), headers: [.accept("text/plain")])
        _ = try await Router<URLEndPoint>(session: stub).request(own, as: String.self)
        let manager = NetworkManager(session: stub, headers: [.accept("image/avif")])
        _ = try await manager.data(from: own.baseURL)
        _ = try await NetworkManager(session: stub).data(from: own.baseURL)
        let accepted = stub.requests.map { $0.headers["Accept"] }
        #expect(accepted == ["application/vnd.own+json", "text/plain", "image/avif", "*/*"])
    }
}
