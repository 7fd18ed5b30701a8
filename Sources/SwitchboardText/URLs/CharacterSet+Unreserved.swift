import Foundation

extension CharacterSet {
    /// The unreserved characters (RFC 3986 §2.3).
    package static let urlUnreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}
