import Foundation

/// The type of an endpoint's base URL: a URL, a text with one, or an optional of these.
public protocol EndPointBaseURL {
    /// Returns the URL.
    ///
    /// - Returns: The URL.
    /// - Throws: ``NetworkError/Code/missingURL`` for nil, ``NetworkError/Code/invalidRequest`` for a text that is no
    ///   URL.
    func _endPointURL() throws(NetworkError) -> URL
}
