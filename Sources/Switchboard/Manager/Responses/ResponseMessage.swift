/// The seven outcomes that the published `NetworkManager` shows to a person, in its words. Errors use these words with
/// ``StatusMap/article``.
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
}
