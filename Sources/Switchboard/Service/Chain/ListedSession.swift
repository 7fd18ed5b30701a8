/// A session with interceptors of its own before it: they join those of the router that it is given to.
package protocol ListedSession: CallCancellableSession {
    var links: [InterceptorChain.Link] { get }
    var session: any NetworkSession { get }
}
