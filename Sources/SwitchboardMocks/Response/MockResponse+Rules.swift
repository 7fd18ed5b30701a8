import Foundation
import Switchboard

extension MockResponse {
    /// Whether the status has neither a body nor a length (RFC 9112 §6.3).
    var isBodiless: Bool {
        (100..<200).contains(status) || status == 204 || status == 304
    }

    func allowsBody(to method: HTTPMethod) -> Bool {
        method != .head && !isBodiless
    }

    /// What is wrong with the scripted headers; nil when nothing is.
    var headerFault: String? {
        do throws(NetworkError) {
            try headers.validate()
            return nil
        } catch {
            return "the scripted response: \(error.reason ?? "bad headers"); MockResponse.raw sends such bytes"
        }
    }

    /// This response, or a 500 that says what is wrong with its headers.
    func refusingInvalidHeaders() -> MockResponse {
        headerFault.map { .text("MockServer: \($0)\n", status: 500) } ?? self
    }
}
