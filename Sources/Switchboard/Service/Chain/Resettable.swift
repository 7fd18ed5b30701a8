/// An interceptor or session with state that a reset removes, such as tokens, cookies or stored responses. See
/// ``Router/reset()``.
public protocol Resettable: Sendable {
    /// Removes all state, including state that is saved for later launches. During this, no call of the chain is in
    /// flight, and none begins.
    func reset() async

    /// Parts of this value that are reset too. A part that is an object is reset once, even if several values hold it.
    /// Default none.
    var resettableParts: [any Resettable] { get }
}

extension Resettable {
    /// No parts.
    public var resettableParts: [any Resettable] { [] }
}
