/// The statuses that are taken for success.
public struct AcceptedStatuses: Sendable {
    private let contains: @Sendable (Int) -> Bool

    /// Those for which a rule of yours holds.
    public init(where contains: @escaping @Sendable (Int) -> Bool) {
        self.contains = contains
    }

    /// 200 to 299, the default.
    public static let success = AcceptedStatuses { (200..<300).contains($0) }
    /// All: no status is an error.
    public static let any = AcceptedStatuses { _ in true }

    /// Those in a range: `.range(200..<400)`.
    public static func range(_ range: Range<Int>) -> AcceptedStatuses {
        AcceptedStatuses { range.contains($0) }
    }

    /// 200 to 299 and these: `.success(and: 304)`.
    public static func success(and others: Int...) -> AcceptedStatuses {
        AcceptedStatuses { (200..<300).contains($0) || others.contains($0) }
    }

    /// Whether a status is taken for success.
    public func contains(_ status: Int) -> Bool {
        contains(status)
    }
}
