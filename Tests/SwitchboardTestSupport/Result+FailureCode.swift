import Switchboard

extension Result where Failure == NetworkError {
    /// The code of the failure, or nil for a success.
    package var failureCode: NetworkError.Code? {
        if case .failure(let error) = self { error.code } else { nil }
    }
}
