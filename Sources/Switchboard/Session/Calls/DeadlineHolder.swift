import Dispatch

/// Something that must be over by a deadline, which may move as it goes.
protocol DeadlineHolder: AnyObject, Sendable {
    var deadline: ContinuousClock.Instant? { get }
    func deadlinePassed()
}
