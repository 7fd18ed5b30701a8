import SwitchboardPlatform
@testable import SwitchboardAuth
@testable import SwitchboardStreams
import Foundation
import Testing

import SwitchboardTestSupport
@testable import Switchboard

/// Records the environments in which an app's closures ran, by their names.
final class EnvironmentNotes: Sendable {
    private let notes = Protected<[String: Set<String>]>([:])

    func note(_ name: String) {
        let environment = NetworkEnvironment.current.name
        notes.withLock { _ = $0[name, default: []].insert(environment) }
    }

    /// Records the environment, and returns a value.
    func note<Value>(_ name: String, _ value: Value) -> Value {
        note(name)
        return value
    }

    /// Expects that exactly these closures ran, in one environment.
    func expect(
        _ names: [String], in environment: NetworkEnvironment = .staging,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let notes = notes.value
        #expect(notes.keys.sorted() == names.sorted(), sourceLocation: sourceLocation)
        for (name, environments) in notes {
            #expect(environments == [environment.name], "\(name)", sourceLocation: sourceLocation)
        }
    }
}

/// An API whose base URL is that of the current environment.
struct PlaceApi: EndPointType {
    var path = "list"
    var httpMethod = HTTPMethod.get
    var task = HTTPTask.request
    var base: EnvironmentURLs = [
        .production: "https://production.example.com", .staging: "https://staging.example.com",
    ]

    var baseURL: URL { get throws { try base.url(in: .current) } }
}

// The protocols that an app adopts. Each method records where it runs.

struct NotingInterceptor: Interceptor, RequestAdapter {
    let notes: EnvironmentNotes

    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        notes.note("Interceptor")
        return try await next(request)
    }

    func adapt(_ request: inout NetworkRequest) { notes.note("RequestAdapter") }
}

struct NotingExchange: ExchangeInterceptor {
    let notes: EnvironmentNotes

    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        notes.note("ExchangeInterceptor")
        return try await next(request)
    }
}

struct NotingMonitor: EventMonitor {
    let notes: EnvironmentNotes
    func record(_ event: CallEvent) { notes.note("EventMonitor") }
}

struct NotingDecoder: ResponseDecoder {
    let notes: EnvironmentNotes

    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        notes.note("ResponseDecoder")
        return try JSONDecoder().decode(type, from: data)
    }
}

struct NotingBody: HTTPBody {
    let notes: EnvironmentNotes
    func encode() -> Data { notes.note("HTTPBody.encode", Data("body".utf8)) }
}

struct NotingParameterEncoder: ParameterEncoder {
    let notes: EnvironmentNotes

    func encode(_ parameters: Parameters, into draft: inout NetworkRequest) {
        draft.body = notes.note("ParameterEncoder", DataBody(Data("a".utf8)))
    }
}

struct NotingAuthenticator: Authenticator {
    let notes: EnvironmentNotes

    func apply(_ credential: Int, to request: inout NetworkRequest) {
        request.headers["Authorization"] = notes.note("Authenticator.apply", "Key \(credential)")
    }

    func refresh(_ credential: Int?, in partition: String?) async throws -> Int {
        await Task.yield()
        return notes.note("Authenticator.refresh", (credential ?? 0) + 1)
    }

    func isAuthenticationFailure(_ response: NetworkResponse) -> Bool {
        notes.note("Authenticator.isAuthenticationFailure", response.statusCode == 401)
    }

    func needsRefresh(_ credential: Int, at date: Date) -> Bool { notes.note("Authenticator.needsRefresh", false) }
    func load(in partition: String?) -> Int? { notes.note("Authenticator.load", 1) }
    func save(_ credential: Int?, in partition: String?) { notes.note("Authenticator.save") }
}

struct NotingStore: TokenStore {
    let notes: EnvironmentNotes

    func load(in partition: String?) -> OAuthToken? {
        notes.note("TokenStore.load", OAuthToken(accessToken: "old", refreshToken: "r"))
    }

    func save(_ token: OAuthToken, in partition: String?) { notes.note("TokenStore.save") }
    func remove(in partition: String?) { notes.note("TokenStore.remove") }
    func removeAll() {}
}

struct NotingUpload: UploadFlow {
    let notes: EnvironmentNotes

    func prepareCreation(_ request: inout NetworkRequest, length: Int64) {
        notes.note("UploadFlow.prepareCreation")
        TusUpload().prepareCreation(&request, length: length)
    }

    func prepareOffsetRequest(_ request: inout NetworkRequest) { TusUpload().prepareOffsetRequest(&request) }

    func preparePiece(_ request: inout NetworkRequest, _ piece: Range<Int64>, of length: Int64) {
        notes.note("UploadFlow.preparePiece")
        TusUpload().preparePiece(&request, piece, of: length)
    }

    func offset(after response: NetworkResponse, sent: Int64?) -> Int64? {
        notes.note("UploadFlow.offset")
        return TusUpload().offset(after: response, sent: sent)
    }
}
