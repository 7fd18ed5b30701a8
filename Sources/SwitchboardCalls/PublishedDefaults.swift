import Switchboard

extension Timeouts {
    /// An idle timeout of 10 seconds, as in the `Router` article that *Migrating* names.
    public static let article = Timeouts(idle: .seconds(10))
}

extension StatusMap {
    /// The map of the `Router` article, for apps that show its texts: every status from 401 to 500 asks for a login.
    public static let article = StatusMap(message: { status in
        let message: ResponseMessage =
            switch status {
            case 200...299: .success
            case 401...500: .authenticationError
            case 501...599: .badRequest
            case 600: .outdated
            default: .failed
            }
        return message.rawValue
    })
}

/// The seven outcomes that the `Router` article shows to a person, in its words. Errors use these words with
/// `StatusMap.article`.
public enum ResponseMessage: String, Sendable, CaseIterable {
    /// Success.
    case success
    /// A login is required.
    case authenticationError = "You need to be authenticated first."
    /// The server did not understand the request.
    case badRequest = "Bad request"
    /// The requested URL is no longer valid.
    case outdated = "The url you requested is outdated."
    /// Any other failure.
    case failed = "Network request failed."
    /// Success without a body, although a value was expected.
    case noData = "Response returned with no data to decode."
    /// Success with a body that is not the expected value.
    case unableToDecode = "We could not decode the response."

    /// Creates the outcome that fits a status: 200 to 299 are `success`, 400 is `badRequest`, 401, 403 and 407 are
    /// `authenticationError`, 404 and 410 are `outdated`, and all others are `failed`.
    public init(statusCode: Int) {
        self =
            switch statusCode {
            case 200...299: .success
            case 400: .badRequest
            case 401, 403, 407: .authenticationError
            case 404, 410: .outdated
            default: .failed
            }
    }
}
