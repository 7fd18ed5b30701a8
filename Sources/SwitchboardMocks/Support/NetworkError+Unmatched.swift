import Switchboard

extension NetworkError.Code {
    /// No stub and no cassette entry answers the request. The reason shows the nearest ones. Such an error is never
    /// retried.
    public static let unmatchedRequest = NetworkError.Code(rawValue: "unmatchedRequest")
}

extension NetworkError {
    /// ``Code/unmatchedRequest``
    public static var unmatchedRequest: Code { .unmatchedRequest }
}
