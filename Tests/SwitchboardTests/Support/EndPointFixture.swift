import Foundation
import Switchboard

/// An endpoint with values for test tables. A base that is not a URL throws the error of the environments' table.
struct EndPointFixture: EndPointType {
    var base = "https://api.example.com/v1"
    var path = ""
    var httpMethod = HTTPMethod.get
    var task = HTTPTask.request
    var headers: HTTPHeaders = [:]
    var options = RequestOptions()

    var baseURL: URL { get throws { try EnvironmentURLs([.qa: base]).url(in: .qa) } }
}

extension NetworkRequest {
    /// The encoded body as text.
    var sentText: String {
        get throws { String(decoding: try body.encode(), as: UTF8.self) }
    }
}
