import Foundation
import Switchboard
import SwitchboardStreams
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

enum ListApi: EndPointType {
    case list(URL, HTTPHeaders = [:])
    case numbered(URL, Int)
    case cursor(URL, String?)
    case headerCursor(URL, String?)
    case search(URL, Int)

    var baseURL: URL {
        switch self {
        case .list(let url, _), .numbered(let url, _), .cursor(let url, _), .headerCursor(let url, _),
            .search(let url, _):
            url
        }
    }
    var path: String { "list" }
    var httpMethod: HTTPMethod { if case .search = self { .post } else { .get } }
    var task: HTTPTask {
        switch self {
        case .list, .headerCursor: .request
        case .numbered(_, let number): .requestParameters(urlParameters: ["page": number])
        case .cursor(_, let cursor): .requestParameters(urlParameters: cursor.map { ["cursor": $0] })
        case .search(_, let number): .requestBody(JSONBody(["page": number]))
        }
    }
    var headers: HTTPHeaders? {
        switch self {
        case .list(_, let headers): headers
        case .headerCursor(_, let cursor): cursor.map { ["X-Cursor": $0] }
        default: nil
        }
    }
}

enum PagedApi: EndPointType {
    case popular(page: Int)
    case feed(cursor: String?)

    var baseURL: URL { URL(text: "http://h") }
    var path: String { "list" }
}

struct Chapter: Codable, Equatable, Sendable {
    let page: Int
    let total: Int
    let items: [Int]
    var next: String?
}

struct FindChapters: TypedEndPoint {
    typealias Response = Chapter
    var path: String { "list" }
}

/// The three kinds of paging over the same list.
enum PageKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case link, number, cursor

    var testDescription: String { rawValue }

    var targets: [String] {
        switch self {
        case .link: ["/list", "/list?page=2", "/list?page=3"]
        case .number: ["/list?page=1", "/list?page=2", "/list?page=3"]
        case .cursor: ["/list", "/list?cursor=2", "/list?cursor=3"]
        }
    }

    /// Passes each page's items, and whether another page follows, to `body` until that returns false.
    func read(
        _ router: Router<ListApi>, _ url: URL, _ body: ([Int], Bool) -> Bool
    ) async throws {
        func read<Token>(_ pages: PageSequence<Chapter, Token>) async throws {
            for try await page in pages where !body(page.value.items, page.next != nil) { return }
        }
        switch self {
        case .link: try await read(router.pages(for: .list(url), as: Chapter.self))
        case .number:
            try await read(
                router.pages(as: Chapter.self, from: 1, while: { $0.page < $0.total }) { .numbered(url, $0) })
        case .cursor: try await read(router.pages(as: Chapter.self, next: \.next) { .cursor(url, $0) })
        }
    }
}

/// The faults of a third page.
enum PageFault: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case status, shape, noBody, truncated

    var testDescription: String { rawValue }

    var response: MockResponse {
        // A link to a page that does not exist.
        let link: HTTPHeaders = ["Link": "<?page=4>; rel=next"]
        return switch self {
        case .status: .json(#"{"message":"gone"}"#, statusCode: 404, headers: link)
        case .shape: .json("{}", headers: link)
        case .noBody: .status(200, headers: link)
        case .truncated: .json("[1,2,3]", headers: link).truncated(after: 2)
        }
    }

    var code: NetworkError.Code {
        switch self {
        case .status: .notFound
        case .shape: .decodingFailed
        case .noBody: .noData
        case .truncated: .truncatedBody
        }
    }
}

extension NetworkResponse {
    static func json(_ text: String, next: String? = nil) -> NetworkResponse {
        let headers: HTTPHeaders = next.map { ["Link": "<\($0)>; rel=\"next\""] } ?? [:]
        return NetworkResponse(statusCode: 200, headers: headers, body: Data(text.utf8))
    }
}

extension AsyncSequence where Element: Sendable {
    /// Returns all elements, up to a limit that no test should reach.
    func all(atMost limit: Int = 100) async throws -> [Element] {
        var elements: [Element] = []
        for try await element in self {
            elements.append(element)
            guard elements.count < limit else {
                Issue.record("more than \(limit)")
                break
            }
        }
        return elements
    }
}

extension PageSequence where Value: Sendable {
    func values() async throws -> [Value] {
        try await all().map(\.value)
    }

    /// Returns the token after `count` pages, encoded and decoded as an app stores it.
    func token(behind count: Int) async throws -> Token? where Token: Codable {
        let page = try #require(try await prefix(count).all().last)
        return try JSONDecoder().decode([Token?].self, from: JSONEncoder().encode([page.next])).first ?? nil
    }
}

/// Returns the field that links the next page.
func link(_ reference: String) -> HTTPHeaders { ["Link": "<\(reference)>; rel=next"] }
