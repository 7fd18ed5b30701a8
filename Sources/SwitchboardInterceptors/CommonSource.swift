import Foundation
import Switchboard

/// A value that is added to requests: fixed, or from a provider for each request.
struct CommonSource<Value: Sendable>: Sendable {
    private enum Kind: Sendable {
        case fixed(Value)
        case provider(@Sendable () async throws -> Value)
    }

    private let origins: CredentialOrigins
    private let kind: Kind

    init(hosts: [String]?, fixed: Value) {
        origins = hosts.map(CredentialOrigins.init(hosts:)) ?? .asked
        kind = .fixed(fixed)
    }

    init(hosts: [String]?, provider: @escaping @Sendable () async throws -> Value) {
        origins = hosts.map(CredentialOrigins.init(hosts:)) ?? .asked
        kind = .provider(provider)
    }

    func isFor(_ request: NetworkRequest) -> Bool { origins.allow(request) }

    func value(_ what: String) async throws -> Value {
        switch kind {
        case .fixed(let value): return value
        case .provider(let provider):
            do {
                let value = try await withOwnTask(provider)
                try Call.check()
                return value
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                // The text of a foreign error may contain a secret, so the reason omits it. The error itself is the
                // underlying error.
                let reason = "the provider of common \(what) threw a \(type(of: error))"
                throw error as? NetworkError ?? NetworkError(.invalidRequest, reason: reason, underlying: error)
            }
        }
    }
}
