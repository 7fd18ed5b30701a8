import Foundation
import Switchboard
import SwitchboardPlatform

/// Records the requests of one iteration over pages, so that none is sent twice.
final class SentPages: Sendable {
    private struct State {
        var seen: Set<Mark> = []
        var isRepeat = false
        var lastURL: URL?
    }

    private let state = Protected(State())

    /// Records a token. Returns false for a repeated one.
    @discardableResult
    func insert(_ token: some Hashable) -> Bool {
        let mark = Mark(token)
        return state.withLock { $0.seen.insert(mark).inserted }
    }

    func contains(_ token: some Hashable) -> Bool {
        let mark = Mark(token)
        return state.withLock { $0.seen.contains(mark) }
    }

    /// Loads one page. Nil when an equal request was sent before, so that this one was not sent.
    func asking(_ ask: () async throws -> NetworkResponse) async throws -> NetworkResponse? {
        do {
            return try await ask()
        } catch {
            if state.withLock({ $0.isRepeat }) { return nil }
            throw error
        }
    }

    /// Records a request. A request with a streamed body always passes.
    ///
    /// - Throws: `NetworkError` when an equal request was sent before.
    func pass(_ request: NetworkRequest) throws(NetworkError) {
        let mark = Mark(sending: request)
        let isNew = state.withLock { state in
            guard let mark, !state.seen.insert(mark).inserted else { return true }
            state.isRepeat = true
            return false
        }
        if !isNew { throw NetworkError(.cancelled, reason: "this request was sent before") }
    }

    /// Returns the request for the page at a URL from the server, or for the first page when the URL is nil.
    ///
    /// - Throws: `NetworkError.Code.redirectRefused`.
    func move(_ request: NetworkRequest, to url: URL?) throws(NetworkError) -> NetworkRequest {
        let lastURL = state.value.lastURL
        guard let url else {
            if let first = request.url { insert(first.withoutFragment) }
            return request
        }
        if let lastURL {
            try url.refuseDowngrade(from: lastURL)
            // The first request has consumed the body.
            guard request.body.isReplayable else {
                throw NetworkError(.redirectRefused, reason: "the body cannot be sent twice")
            }
        }
        var moved = try request.moved(to: url.withoutFragment)
        // As with redirects, credentials stay removed even at the first origin: another origin chose this URL.
        if url.isChosenElsewhere { moved.leaveOrigin() }
        return moved
    }

    /// Records the URL that answered, after redirects.
    func arrive(at url: URL?) {
        guard let url else { return }
        insert(url.withoutFragment)
        state.withLock { $0.lastURL = url }
    }
}

/// A 128-bit hash of a value. No other process can predict it.
private struct Mark: Hashable, Sendable {
    private let one: Int
    private let two: Int

    init(_ token: some Hashable) {
        let url = token as? URL
        let value = url?.isChosenElsewhere == true ? AnyHashable(url?.withoutFragment) : AnyHashable(token)
        func hash(_ seed: Int) -> Int {
            var hasher = Hasher()
            hasher.combine(seed)
            hasher.combine(value)
            return hasher.finalize()
        }
        one = hash(1)
        two = hash(2)
    }

    /// Creates the mark of a request from method, URL, header fields and body. Nil for a body that cannot be read.
    init?(sending request: NetworkRequest) {
        guard !request.body.isStreamed, let body = try? request.body.isEmpty ? Data() : request.body.encode() else {
            return nil
        }
        self.init(
            Sent(
                method: request.method, url: request.url?.withoutFragment.absoluteString, headers: request.headers,
                body: body))
    }

    private struct Sent: Hashable {
        let method: HTTPMethod
        let url: String?
        let headers: HTTPHeaders
        let body: Data
    }
}
