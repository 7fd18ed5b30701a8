import Foundation

/// The type of a member that an endpoint does not have.
public struct NoMember: NotAnEndPointMember, NotAnEndPointText, Sendable {
    init() {}
}
