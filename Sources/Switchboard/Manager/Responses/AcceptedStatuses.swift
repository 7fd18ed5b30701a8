/// The statuses that count as success.
public struct AcceptedStatuses: Sendable {
    private let contains: @Sendable (Int) -> Bool

    /// Creates the set of statuses for which a closure returns true.
    public init(where contains: @escaping @Sendable (Int) -> Bool) {
        self.contains = contains
    }

    /// 200 to 299. The default.
    public static let success = AcceptedStatuses { (200..<300).contains($0) }
    /// All statuses, so that none is an error.
    public static let any = AcceptedStatuses { _ in true }

    /// Returns the statuses in a range: `.range(200..<400)`.
    public static func range(_ range: Range<Int>) -> AcceptedStatuses {
        AcceptedStatuses { range.contains($0) }
    }

    /// Returns 200 to 299 and more statuses: `.success(and: 304)`.
    public static func success(and others: Int...) -> AcceptedStatuses {
        AcceptedStatuses { (200..<300).contains($0) || others.contains($0) }
    }

    /// Returns whether a status counts as success.
    public func contains(_ status: Int) -> Bool {
        contains(status)
    }
}
