import Foundation
import SwitchboardJSON

/// What a response without a body decodes to.
public struct EmptyResponse: Codable, Hashable, Sendable {
    /// Makes the one value there is.
    public init() {}

    /// Decodes from anything.
    public init(from decoder: any Decoder) {}

    /// Encodes an empty object.
    public func encode(to encoder: any Encoder) throws {
        _ = encoder.container(keyedBy: JSONPathKey.self)
    }
}
