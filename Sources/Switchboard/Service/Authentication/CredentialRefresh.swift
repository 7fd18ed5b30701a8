/// The refreshes that the running code is part of.
///
/// A request sent by one of them must not wait for what waits for it: its own interceptor lets it pass, and so should
/// whatever hands out turns.
package enum CredentialRefresh {
    @TaskLocal private static var current: [ObjectIdentifier] = []

    /// Whether this code runs within a refresh.
    package static var isRunning: Bool { !current.isEmpty }

    /// Whether this code runs within a refresh of this interceptor.
    package static func isRunning(of interceptor: AnyObject) -> Bool {
        !current.isEmpty && current.contains(ObjectIdentifier(interceptor))
    }

    package static func run<Output>(
        of interceptor: AnyObject, _ operation: @Sendable () async throws -> Output
    ) async throws -> Output {
        try await $current.withValue(current + [ObjectIdentifier(interceptor)], operation: operation)
    }
}
