import Foundation
import Switchboard
import SwitchboardCache

/// The result of a call, as the app received it.
struct ModelAnswer: Sendable {
    let status: Int?
    let serial: Int?
    let body: String
    let age: String?
    let outcome: CacheOutcome?
    /// The code of the error. Nil for a response.
    let error: NetworkError.Code?

    init(_ response: NetworkResponse) {
        status = response.statusCode
        serial = response.headers["X-Serial"].flatMap { Int($0) }
        body = response.text
        age = response.headers["Age"]
        outcome = response.cacheOutcome
        error = nil
    }

    init(_ error: NetworkError) {
        (status, serial, body, age, outcome, self.error) = (nil, nil, "", nil, nil, error.code)
    }

    var isRevalidating: Bool { outcome == .stale(.whileRevalidating) }

    var isValidated: Bool {
        if case .validated = outcome { true } else { false }
    }

    var isMiss: Bool {
        if case .miss = outcome { true } else { false }
    }
}

extension ModelAnswer: CustomStringConvertible {
    var description: String {
        error.map { "error \($0)" }
            ?? "\(status ?? 0), serial \(serial ?? 0), body \(body), age \(age ?? "-"), "
            + "\(outcome.map { "\($0)" } ?? "no outcome")"
    }
}
