import Foundation

/// The type of an endpoint's property: the value itself, or an optional of it.
public protocol EndPointProperty {
    /// The type of the value.
    associatedtype PropertyValue
    /// The value, or nil for the default.
    var endPointValue: PropertyValue? { get }
}
