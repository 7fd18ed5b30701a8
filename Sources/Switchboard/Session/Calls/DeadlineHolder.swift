import Dispatch

/// An operation that must end by a deadline. The deadline may move while it runs.
protocol DeadlineHolder: AnyObject, Sendable {
    var deadline: ContinuousClock.Instant? { get }
    func deadlinePassed()
}
