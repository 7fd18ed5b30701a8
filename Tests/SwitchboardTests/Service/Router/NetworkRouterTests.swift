import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct NetworkRouterTests {
    @Test("an app can inject our router over a stub, or a fake router", .requirement("S3.16"))
    func injection() async throws {
        let stubbed = Router<Films>(session: StubSession { _ in .json(#"["Alien"]"#) })
        let routers: [any NetworkRouter<Films>] = [stubbed, FakeRouter(body: #"["Alien"]"#)]
        for router in routers {
            #expect(try await FilmList(router: router).titles() == ["Alien"])
        }
    }

    @Test("a fake router has every form of call", .requirement("S3.16"))
    func forms() async throws {
        let router = FakeRouter(body: #"["Alien"]"#)
        let values = Deliveries<Result<[String], NetworkError>>()
        let statuses = Deliveries<Int?>()
        router.request(.latest, as: [String].self) { values.add($0) }
        router.response(for: .latest) { statuses.add((try? $0.get())?.statusCode) }
        router.request(.latest) { _, response, _ in statuses.add((response as? HTTPURLResponse)?.statusCode) }
        #expect(try await router.response(for: .latest).text == #"["Alien"]"#)
        #expect(try await values.first() == .success(["Alien"]))
        #expect(try await statuses.wait(for: 2) == [200, 200])
    }

    @Test("a fake router's responses are validated like any others", .requirement("S3.16", "S0.10"))
    func judged() async throws {
        let router = FakeRouter(body: #"{"message":"gone"}"#, status: 410)
        let error = await #expect(throws: NetworkError.self) { try await FilmList(router: router).titles() }
        #expect(error?.statusCode == 410)
        #expect(error?.serverMessage == "gone")
    }
}

private enum Films: EndPointType {
    case latest
    var baseURL: URL { URL(text: "https://films.example.com") }
    var path: String { "latest" }
}

private struct FilmList {
    let router: any NetworkRouter<Films>

    func titles() async throws -> [String] {
        try await router.request(.latest, as: [String].self)
    }
}

private struct FakeRouter: NetworkRouter {
    let calls: RouterCalls

    init(body: String, status: Int = 200) {
        calls = RouterCalls(session: StubSession { _ in .json(body, statusCode: status) })
    }

    func readRequest(for endPoint: Films, options: RequestOptions) throws(NetworkError) -> NetworkRequest {
        NetworkRequest(.get, endPoint.baseURL, options: options)
    }
}
