import Foundation

/// The type of an endpoint's property: the value itself, or an optional of it.
///
/// The requirements have an underscore, so that no completion offers them on a `String`.
public protocol EndPointProperty {
    /// The type of the value.
    associatedtype _EndPointValue
    /// The value, or nil for the default.
    var _endPointValue: _EndPointValue? { get }
}
