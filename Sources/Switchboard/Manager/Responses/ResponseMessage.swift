/// The seven outcomes that the published `NetworkManager` tells a person about, with its words. Errors say them with
/// ``StatusMap/article``.
public enum ResponseMessage: String, Sendable, CaseIterable {
    /// All is well.
    case success
    /// Log in first.
    case authenticationError = "You need to be authenticated first."
    /// The server did not understand.
    case badRequest = "Bad request"
    /// What was asked for is not there any more.
    case outdated = "The url you requested is outdated."
    /// Anything else.
    case failed = "Network request failed."
    /// Success without a body where a value was expected.
    case noData = "Response returned with no data to decode."
    /// Success with a body that is not the value expected.
    case unableToDecode = "We could not decode the response."
}
