/// Holds state that a reset wipes: an interceptor with tokens, cookies or stored responses. See ``Router/reset()``.
public protocol Resettable: Sendable {
    /// Forgets what is held, what is stored for later launches too. No call of the chain is under way meanwhile, and none
    /// begins.
    func reset() async

    /// What else is to be reset, when this is made of parts. A part that is an object is reset once, even if several
    /// hold it. Default none.
    var resettableParts: [any Resettable] { get }
}

extension Resettable {
    /// None.
    public var resettableParts: [any Resettable] { [] }
}
