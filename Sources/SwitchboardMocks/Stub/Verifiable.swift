import Switchboard

/// A mock that reports afterwards what did not happen as scripted.
public protocol Verifiable: Sendable {
    /// One message per unmet expectation, empty when all are met. `verify()` of SwitchboardTesting fails the test with
    /// them.
    var faults: [String] { get }
}
