/// A fixed value, or a provider of values.
///
/// A provider runs once for all requests of a partition that wait at the same time, and again for the next one. It is
/// canceled when all of those requests are canceled.
package struct CredentialSource<Value: Sendable>: Sendable {
    private enum Kind: Sendable {
        case value(Value)
        case provider(@Sendable () async throws -> Value?, SharedCalls<String?, (any Sendable)?, Void>)
    }

    private let kind: Kind

    package init(_ value: Value) {
        kind = .value(value)
    }

    package init(_ provider: @escaping @Sendable () async throws -> Value?) {
        kind = .provider(provider, SharedCalls())
    }

    /// Returns the value for a request, or nil when the provider returns nil.
    package func value(for request: NetworkRequest) async throws -> Value? {
        switch kind {
        case .value(let value): return value
        case .provider(let provider, let calls):
            request.report(.waiting(for: "credentials"))
            do {
                return try await calls.value(for: request.options.partition, note: ()) { _ in try await provider() }
                    as? Value
            } catch let error as CancellationError {
                try CallCancellation.check()
                throw NetworkError(
                    .cannotAuthenticate, reason: "the credential provider was cancelled", underlying: error)
            } catch let error as NetworkError {
                throw error
            } catch {
                throw NetworkError(
                    .cannotAuthenticate, reason: "the credential provider threw a \(type(of: error))",
                    underlying: error)
            }
        }
    }
}
