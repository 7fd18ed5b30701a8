import Dispatch
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

extension DispatchGroup {
    /// Starts a thread that enters the group while it runs.
    ///
    /// Foundation's `Thread` ignores that the system refuses a thread, and a connection without one would never end.
    package func startThread(_ name: String, _ body: @escaping @Sendable () -> Void) throws(Socket.Failure) {
        enter()
        let work = Unmanaged.passRetained(
            ThreadWork { [self] in
                Thread.current.name = name
                body()
                leave()
            })
        #if canImport(Darwin) || canImport(Musl)
        var thread: pthread_t?
        #else
        var thread = pthread_t()
        #endif
        // The result is the argument, because Android's may not be nil.
        let code = pthread_create(
            &thread, nil,
            { context in
                ThreadWork.run(context)
                return context
            }, work.toOpaque())
        guard code == 0 else {
            work.release()
            leave()
            throw Socket.Failure(call: "start a thread", code: code)
        }
    }
}

/// The work of a thread, released at its end.
private final class ThreadWork: Sendable {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    /// The argument is optional, because that of a thread is so on some systems.
    static func run(_ context: UnsafeMutableRawPointer?) {
        guard let context else { return }
        pthread_detach(pthread_self())
        Unmanaged<ThreadWork>.fromOpaque(context).takeRetainedValue().body()
    }
}
