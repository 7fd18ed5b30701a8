/// The credential refreshes that the running code is part of.
///
/// A request that is sent by a refresh must not wait for that refresh. Its own interceptor passes it unchanged, and
/// limiters should pass it too.
package enum CredentialRefresh {
    @TaskLocal private static var current: [ObjectIdentifier] = []

    /// Whether this code runs within a refresh.
    package static var isRunning: Bool { !current.isEmpty }

    /// Returns whether this code runs within a refresh of this interceptor.
    package static func isRunning(of interceptor: AnyObject) -> Bool {
        !current.isEmpty && current.contains(ObjectIdentifier(interceptor))
    }

    package static func run<Output>(
        of interceptor: AnyObject, _ operation: @Sendable () async throws -> Output
    ) async throws -> Output {
        try await $current.withValue(current + [ObjectIdentifier(interceptor)], operation: operation)
    }
}
