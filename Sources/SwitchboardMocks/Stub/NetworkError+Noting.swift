import Foundation
import Switchboard

extension NetworkError {
    /// The error with the request's URL and method, where it has none.
    func noting(_ request: NetworkRequest) -> NetworkError {
        var error = self
        error.url = url ?? request.url
        error.method = method ?? request.method
        return error
    }
}
