import Foundation

extension NetworkRequest {
    /// Whether nothing is done twice when it is sent once more ([RFC 9110
    /// §9.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-9.2.2)), and it was not yet.
    var mayBeRepeated: Bool { repetition == nil && method.isIdempotent && body.isReplayable }

    /// Performs an exchange of a call, and a second one when the first asks for it. Both are noted.
    func exchange(
        in call: CallRecord, since start: ContinuousClock.Instant = .now,
        _ send: (NetworkRequest) async throws -> NetworkResponse
    ) async throws -> NetworkResponse {
        do {
            return try await call.exchange(self, since: start, send)
        } catch let error as NetworkError {
            guard let repetition = error.repetition, mayBeRepeated, call.takeAttempt() else { throw error }
            var again = self
            again.call = call
            again.repetition = repetition
            again.report(.retry(after: .zero, because: repetition.rawValue))
            try CallCancellation.check()
            var response = try await call.exchange(again, send)
            response.request?.repetition = nil
            return response
        }
    }
}
