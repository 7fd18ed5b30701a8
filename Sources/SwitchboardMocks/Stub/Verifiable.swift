import Switchboard

/// A double that knows afterwards whether everything went as it was told.
public protocol Verifiable: Sendable {
    /// What did not, a text each; empty when all is well. `verify()` of SwitchboardTesting fails the test with them.
    var faults: [String] { get }
}
