import Foundation
import Switchboard
import SwitchboardPaging
import SwitchboardTesting
import Testing

/// The first page of a sequence.
@Suite(.timeLimit(.minutes(3)))
struct PageStartTests {
    private enum Scroll: EndPointType {
        case search(String), next(String)

        var baseURL: URL { URL(text: "http://h.test") }
        var path: String { if case .search = self { "search" } else { "scroll" } }
        var httpMethod: HTTPMethod { if case .search = self { .post } else { .get } }
        var task: HTTPTask {
            switch self {
            case .search(let text): .requestParameters(bodyParameters: ["text": text])
            case .next(let id): .requestParameters(urlParameters: ["id": id])
            }
        }
    }

    @Test("pages with a cursor may begin at another endpoint")
    func firstEndPoint() async throws {
        let session = StubSession(
            .json(#"{"page":1,"total":3,"items":[1],"next":"x"}"#),
            .json(#"{"page":2,"total":3,"items":[2],"next":"y"}"#),
            .json(#"{"page":3,"total":3,"items":[3],"next":""}"#))
        let pages = Router<Scroll>(session: session).pages(
            as: Chapter.self, from: .search("alien"), next: \.next, of: { .next($0) })
        #expect(try await pages.items(\.items).all() == [1, 2, 3])
        #expect(
            session.requests.map { "\($0.method) \($0.url?.absoluteString ?? "")" } == [
                "POST http://h.test/search", "GET http://h.test/scroll?id=x", "GET http://h.test/scroll?id=y",
            ])
        #expect(try session.requests.first?.body.encode() == Data(#"{"text":"alien"}"#.utf8))
    }

    @Test("pages with a cursor begin at a stored cursor")
    func storedCursor() async throws {
        let session = StubSession(.json(#"{"page":2,"total":2,"items":[2]}"#))
        let pages = Router<Scroll>(session: session).pages(as: Chapter.self, after: "x", next: \.next) {
            $0.map { .next($0) } ?? .search("alien")
        }
        #expect(try await pages.items(\.items).all() == [2])
        #expect(session.requests.map(\.url?.query) == ["id=x"])
    }
}
