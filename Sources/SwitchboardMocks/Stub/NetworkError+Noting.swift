import Foundation
import Switchboard

extension NetworkError {
    /// Returns the error with the request's URL and method, unless the error has them already.
    func noting(_ request: NetworkRequest) -> NetworkError {
        var error = self
        error.url = url ?? request.url
        error.method = method ?? request.method
        return error
    }
}
