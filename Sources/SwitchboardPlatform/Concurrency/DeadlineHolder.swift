/// An operation that must end by a deadline. The deadline may move while it runs.
package protocol DeadlineHolder: AnyObject, Sendable {
    /// The deadline now. Nil for none.
    var deadline: ContinuousClock.Instant? { get }
    /// Ends the operation. The deadline may have moved since it passed.
    func deadlinePassed()
}
