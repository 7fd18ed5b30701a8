/// A session with a list of interceptors, which join those of its router.
package protocol ListedSession: CallCancellableSession {
    var links: [InterceptorChain.Link] { get }
    var session: any NetworkSession { get }
}
