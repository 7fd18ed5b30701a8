import SwitchboardPlatform
import Foundation
import Switchboard

/// Answers the requests of URLSessions from the stub of its class. See ``StubProtocolClasses``.
class StubURLProtocol: URLProtocol {
    /// Locked, because Foundation starts and stops on its internal queues.
    private let load = Protected<StubLoad?>(nil)

    /// Accepts every request, so that none reaches the network.
    override class func canInit(with request: URLRequest) -> Bool { true }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override class func requestIsCacheEquivalent(_ one: URLRequest, to other: URLRequest) -> Bool { false }

    /// Returns whether to load for a task in this state. Nil is a loading without a task.
    static func loads(
        in state: URLSessionTask.State?, startsStoppedTasks: Bool = ProtocolClient.startsStoppedTasks
    ) -> Bool {
        !startsStoppedTasks || state == nil || state == .running
    }

    /// Starts the loading unless it runs already. The open-source Foundation calls this method again when a running
    /// task is resumed once more, and after a suspension, which stops the loading. It may also call it for a canceled
    /// task, after it stopped the loading. On Apple's systems each call starts a loading.
    override func startLoading() {
        guard Self.loads(in: task?.state) else { return }
        let new = StubLoad(of: self)
        let isFirst = load.withLock { load in
            guard load == nil else { return false }
            load = new
            return true
        }
        if isFirst { new.start(from: StubProtocolClasses.shared.stub(of: type(of: self))) }
    }

    override func stopLoading() {
        let old = load.withLock { load in
            defer { load = nil }
            return load
        }
        old?.stop()
    }
}

/// One loading of a request by a ``StubURLProtocol``: it sends the request to the stub and delivers the response to the
/// client.
final class StubLoad: Sendable {
    /// The same limit as URLSession on Apple's systems.
    private static let redirectLimit = 16

    private let request: ProtocolRequest
    private let client: ProtocolClient
    private let task = Protected<Task<Void, Never>?>(nil)

    /// Creates the loading on the thread that starts it. On Apple's systems the client expects its messages there.
    init(of urlProtocol: URLProtocol) {
        request = ProtocolRequest(urlRequest: urlProtocol.request, task: urlProtocol.task)
        client = ProtocolClient(of: urlProtocol)
    }

    func start(from stub: StubSession?) {
        task.withLock { $0 = Task { await run(stub) } }
    }

    /// Stops the loading. The client receives nothing more once this method has returned.
    func stop() {
        client.stop()
        task.withLock { $0 }?.cancel()
    }

    private func run(_ stub: StubSession?) async {
        do {
            guard let stub else {
                throw NetworkError(
                    .cannotConnect, reason: "the StubSession of this URLSessionConfiguration is gone: keep it")
            }
            try await load(from: stub)
        } catch {
            fail(error)
        }
    }

    private func load(from stub: StubSession) async throws {
        var request = try await self.request.networkRequest
        for _ in 0...Self.redirectLimit {
            let response = try await stub.send(request)
            guard let redirection = try RedirectInterceptor.none.redirection(of: request, by: response) else {
                return try await deliver(response)
            }
            switch try await self.request.follow(redirection, response, client) {
            case .declined: return try await deliver(response)
            case .bySystem: return
            case .byStub(let next): request = next
            }
        }
        throw NetworkError(.tooManyRedirects, reason: "\(Self.redirectLimit) were followed").adding(request)
    }

    private func deliver(_ response: NetworkResponse) async throws {
        guard let head = response.urlResponse else { throw NetworkError(.missingURL) }
        client.didReceive(head)
        var body = Data()
        for try await chunk in response.bytes {
            if ProtocolClient.takesPieces { client.didLoad(chunk) } else { body += chunk }
        }
        if !body.isEmpty { client.didLoad(body) }
        client.didFinish()
    }

    /// Delivers the part of the response that came before the failure, then the failure.
    private func fail(_ error: any Error) {
        let error = error as? NetworkError ?? NetworkError(.cancelled)
        if let response = error.response, let head = response.urlResponse, client.didReceive(head) {
            if !response.body.isEmpty { client.didLoad(response.body) }
        }
        client.didFail(URLError(error, for: request.urlRequest.url))
    }
}

extension URLError {
    /// Creates the error that URLSession reports for a failure, with the failure under `NSUnderlyingErrorKey`. A
    /// `URLError` inside the failure determines the code.
    init(_ error: NetworkError, for url: URL?) {
        var information: [String: Any] = [
            NSUnderlyingErrorKey: error, NSLocalizedDescriptionKey: error.description,
        ]
        information[NSURLErrorFailingURLErrorKey] = error.url ?? url
        self.init(error.urlErrorCode ?? Self.code(for: error.code), userInfo: information)
    }

    /// Returns the code for one of this package's codes, or for its parent code.
    static func code(for code: NetworkError.Code) -> URLError.Code {
        codes[code] ?? code.parent.map { Self.code(for: $0) } ?? .unknown
    }

    private static let codes: [NetworkError.Code: URLError.Code] = [
        .cancelled: .cancelled, .timedOut: .timedOut,
        .cannotConnect: .cannotConnectToHost, .cannotFindHost: .cannotFindHost,
        .noInternetConnection: .notConnectedToInternet, .connectionLost: .networkConnectionLost,
        .insecureConnection: .secureConnectionFailed, .cannotAuthenticate: .userAuthenticationRequired,
        .invalidRequest: .badURL, .unsupported: .unsupportedURL, .encodingFailed: .requestBodyStreamExhausted,
        // The code of Apple's URLSession for a GET with a body.
        .bodyNotAllowed: .dataLengthExceedsMaximum,
        .invalidResponse: .cannotParseResponse, .truncatedBody: .networkConnectionLost,
        .responseTooLarge: .dataLengthExceedsMaximum, .headersTooLarge: .dataLengthExceedsMaximum,
        .cannotDecodeResponse: .cannotDecodeContentData, .cannotWriteFile: .cannotWriteToFile,
        .tooManyRedirects: .httpTooManyRedirects, .redirectRefused: .redirectToNonExistentLocation,
    ]
}
