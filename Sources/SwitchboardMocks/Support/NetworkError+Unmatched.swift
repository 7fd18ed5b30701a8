import Switchboard

extension NetworkError.Code {
    /// No stub and no cassette entry answers the request; the reason has the nearest ones. Never retried.
    public static let unmatchedRequest = NetworkError.Code(rawValue: "unmatchedRequest")
}

extension NetworkError {
    /// ``Code/unmatchedRequest``
    public static var unmatchedRequest: Code { .unmatchedRequest }
}
