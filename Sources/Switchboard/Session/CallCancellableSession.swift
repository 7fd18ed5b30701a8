/// A session that gives up at once when ``CallCancellation/current`` is cancelled, as it does for its task.
package protocol CallCancellableSession: NetworkSession {}
