/// A session whose exchanges need no separate task, because its `send` never waits. An example is a stub that answers
/// at once.
///
/// `Router.cancel()` cannot cancel its caller's task. A router therefore performs the exchanges of a custom session in
/// a separate task, which it can cancel. That task costs two more thread switches for each exchange. A session that
/// conforms to this protocol is called in the caller's task. If its `send` waits anyway, a canceled call lasts until
/// `send` returns.
public protocol CallCancellableSession: NetworkSession {}
