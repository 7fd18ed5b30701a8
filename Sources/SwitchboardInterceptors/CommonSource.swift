import Foundation
import Switchboard

/// What is added to requests: fixed, or asked for each time.
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
                try CallCancellation.check()
                return value
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                // A foreign error's text may hold anything, a secret too; it is there underneath.
                let reason = "the provider of common \(what) threw a \(type(of: error))"
                throw error as? NetworkError ?? NetworkError(.invalidRequest, reason: reason, underlying: error)
            }
        }
    }
}
