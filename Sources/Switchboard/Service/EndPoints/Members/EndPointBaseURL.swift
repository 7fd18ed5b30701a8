import Foundation

/// The type of an endpoint's base URL: a URL, text that is one, or an optional of these.
public protocol EndPointBaseURL {
    /// The URL.
    ///
    /// - Returns: The URL.
    /// - Throws: ``NetworkError/Code/missingURL`` when there is none, ``NetworkError/Code/invalidRequest`` for text
    ///   that is no URL.
    func endPointURL() throws(NetworkError) -> URL
}
