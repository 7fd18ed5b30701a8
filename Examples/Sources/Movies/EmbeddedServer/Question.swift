import Foundation
import Switchboard
import SwitchboardMocks

/// The parts of a request.
nonisolated struct Question {
    let environment: String
    /// The path segments after `/production/3/movie/`.
    let path: [String]
    private let pageText: String?

    init(_ request: RecordedRequest) throws {
        guard request.queryValue("api_key") == MovieServer.key else { throw Refusal.invalidKey }
        let path = request.path.split(separator: "/").map(String.init)
        guard request.method == .get, path.count > 3, path[1] == "3", path[2] == "movie" else { throw Refusal.notFound }
        environment = path[0]
        self.path = Array(path[3...])
        pageText = request.queryValue("page")
    }

    var page: Int {
        get throws {
            guard let pageText else { return 1 }
            guard let page = Int(pageText), 1...500 ~= page else { throw Refusal.invalidPage }
            return page
        }
    }
}
