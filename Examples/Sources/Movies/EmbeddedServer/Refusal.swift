/// The reason why the server refuses a request. The raw value is the status.
enum Refusal: Int, Error {
    case invalidPage = 400
    case invalidKey = 401
    case notFound = 404

    var record: ErrorRecord {
        switch self {
        case .invalidPage:
            ErrorRecord(
                statusCode: 22,
                statusMessage: "Invalid page: Pages start at 1 and max at 500. They are expected to be an integer.")
        case .invalidKey:
            ErrorRecord(statusCode: 7, statusMessage: "Invalid API key: You must be granted a valid key.")
        case .notFound:
            ErrorRecord(statusCode: 34, statusMessage: "The resource you requested could not be found.")
        }
    }
}
