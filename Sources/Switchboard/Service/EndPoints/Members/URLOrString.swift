import Foundation

/// The type of a missing ``EndPointMembers/baseURL`` in the compiler's error, which then names both types.
public typealias URLOrString = URL
