/// A typed option that a request carries for interceptors and sessions. Each module can define more.
///
/// ```swift
/// enum Priority: RequestOption { static let defaultValue = 0 }
///
/// var request = NetworkRequest(.get, url)
/// request[Priority.self] = 2
/// ```
public protocol RequestOption {
    /// The type of the option's value.
    associatedtype Value: Sendable
    /// The value of the option when it is not set.
    static var defaultValue: Value { get }
}
