import SwitchboardPlatform
@testable import SwitchboardAuth
@testable import SwitchboardStreams
import Foundation
import Testing

import SwitchboardTestSupport
@testable import Switchboard

/// Records the environments in which an app's closures ran, by their names.
final class EnvironmentRecord: Sendable {
    private let environments = Protected<[String: Set<String>]>([:])

    func record(_ name: String) {
        let environment = NetworkEnvironment.current.name
        environments.withLock { _ = $0[name, default: []].insert(environment) }
    }

    /// Records the environment, and returns a value.
    func record<Value>(_ name: String, _ value: Value) -> Value {
        record(name)
        return value
    }

    /// Expects that exactly these closures ran, in one environment.
    func expect(
        _ names: [String], in environment: NetworkEnvironment = .staging,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let environments = environments.value
        #expect(environments.keys.sorted() == names.sorted(), sourceLocation: sourceLocation)
        for (name, environments) in environments {
            #expect(environments == [environment.name], "\(name)", sourceLocation: sourceLocation)
        }
    }
}

/// An API whose base URL is that of the current environment.
struct NumbersApi: EndPointType {
    var path = "list"
    var httpMethod = HTTPMethod.get
    var task = HTTPTask.request
    var base: EnvironmentURLs = [
        .production: "https://production.example.com", .staging: "https://staging.example.com",
    ]

    var baseURL: URL { get throws { try base.url(in: .current) } }
}

// The protocols that an app adopts. Each method records where it runs.

struct RecordingInterceptor: Interceptor, RequestAdapter {
    let environments: EnvironmentRecord

    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        environments.record("Interceptor")
        return try await next(request)
    }

    func adapt(_ request: inout NetworkRequest) { environments.record("RequestAdapter") }
}

struct RecordingExchange: ExchangeInterceptor {
    let environments: EnvironmentRecord

    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        environments.record("ExchangeInterceptor")
        return try await next(request)
    }
}

struct RecordingMonitor: EventMonitor {
    let environments: EnvironmentRecord
    func record(_ event: CallEvent) { environments.record("EventMonitor") }
}

struct RecordingDecoder: ResponseDecoder {
    let environments: EnvironmentRecord

    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        environments.record("ResponseDecoder")
        return try JSONDecoder().decode(type, from: data)
    }
}

struct RecordingBody: HTTPBody {
    let environments: EnvironmentRecord
    func encode() -> Data { environments.record("HTTPBody.encode", Data("body".utf8)) }
}

struct RecordingParameterEncoder: ParameterEncoder {
    let environments: EnvironmentRecord

    func encode(_ parameters: Parameters, into draft: inout NetworkRequest) {
        draft.body = environments.record("ParameterEncoder", DataBody(Data("a".utf8)))
    }
}

struct RecordingAuthenticator: Authenticator {
    let environments: EnvironmentRecord

    func apply(_ credential: Int, to request: inout NetworkRequest) {
        request.headers["Authorization"] = environments.record("Authenticator.apply", "Key \(credential)")
    }

    func refresh(_ credential: Int?, in partition: String?) async throws -> Int {
        await Task.yield()
        return environments.record("Authenticator.refresh", (credential ?? 0) + 1)
    }

    func isAuthenticationFailure(_ response: NetworkResponse) -> Bool {
        environments.record("Authenticator.isAuthenticationFailure", response.statusCode == 401)
    }

    func needsRefresh(_ credential: Int, at date: Date) -> Bool {
        environments.record("Authenticator.needsRefresh", false)
    }
    func load(in partition: String?) -> Int? { environments.record("Authenticator.load", 1) }
    func save(_ credential: Int?, in partition: String?) { environments.record("Authenticator.save") }
}

struct RecordingStore: TokenStore {
    let environments: EnvironmentRecord

    func load(in partition: String?) -> OAuthToken? {
        environments.record("TokenStore.load", OAuthToken(accessToken: "old", refreshToken: "r"))
    }

    func save(_ token: OAuthToken, in partition: String?) { environments.record("TokenStore.save") }
    func remove(in partition: String?) { environments.record("TokenStore.remove") }
    func removeAll() {}
}

struct RecordingUpload: UploadFlow {
    let environments: EnvironmentRecord

    func prepareCreation(_ request: inout NetworkRequest, length: Int64) {
        environments.record("UploadFlow.prepareCreation")
        TusUpload().prepareCreation(&request, length: length)
    }

    func prepareOffsetRequest(_ request: inout NetworkRequest) { TusUpload().prepareOffsetRequest(&request) }

    func preparePiece(_ request: inout NetworkRequest, _ piece: Range<Int64>, of length: Int64) {
        environments.record("UploadFlow.preparePiece")
        TusUpload().preparePiece(&request, piece, of: length)
    }

    func offset(after response: NetworkResponse, sent: Int64?) -> Int64? {
        environments.record("UploadFlow.offset")
        return TusUpload().offset(after: response, sent: sent)
    }
}
