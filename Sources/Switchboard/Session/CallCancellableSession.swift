/// A session whose exchanges need no task of their own: one that never waits, such as a stub that answers at once.
///
/// `Router.cancel()` cannot cancel the task of its caller. So a router performs the exchanges of a session of yours in a task
/// of their own, which it can cancel, and which costs two more switches between threads. A session that conforms is called in
/// the caller's task. If its `send` waits, a cancelled call lasts until `send` returns.
public protocol CallCancellableSession: NetworkSession {}
