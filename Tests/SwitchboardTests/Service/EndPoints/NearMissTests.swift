import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// Misspelled members that compile. `scripts/check/refusals` tests those that do not.
struct NearMissTests {
    private struct Misspelt: EndPointType {
        var baseURL: URL { URL(text: "https://h.test") }
        var path = "list"
        var httpMetod = HTTPMethod.post
        var haeders: HTTPHeaders? = ["X-A": "1"]
        var tasks = HTTPTask.request
    }

    private struct Fine: TypedEndPoint {
        typealias Response = EmptyResponse
        var path = "list"
        var httpMethod = HTTPMethod.post
        var mask = "a", header = 7, method: [Int] = [], body: Int? = 3
    }

    private func warnings(_ endPoint: some EndPointType) async -> [String] {
        func warnings<EndPoint: EndPointType>(_ endPoint: EndPoint) async -> [String] {
            await Router<EndPoint>(session: StubSession { _ in .text("") }).explain(endPoint).warnings
        }
        return await warnings(endPoint)
    }

    @Test("explain names stored properties that are almost members of an endpoint")
    func explained() async {
        #expect(
            await warnings(Misspelt()) == [
                #"Misspelt has a property "httpMetod", which no endpoint has: did you mean "httpMethod"?"#,
                #"Misspelt has a property "haeders", which no endpoint has: did you mean "headers"?"#,
                #"Misspelt has a property "tasks", which no endpoint has: did you mean "task"?"#,
            ])
    }

    @Test("members, and properties of another type, are no near misses")
    func fine() async {
        #expect(await warnings(Fine()) == [])
        #expect(await warnings(URLEndPoint(.get, URL(text: "https://h.test/"))) == [])
    }
}
