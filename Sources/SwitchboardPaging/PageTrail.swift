import Foundation
import Switchboard
import SwitchboardPlatform

/// What was asked for in one iteration over pages, so that nothing is asked for twice.
final class PageTrail: Sendable {
    private struct State {
        var seen: Set<Mark> = []
        var sawRequest = false
        var isRepeat = false
        var lastURL: URL?
    }

    private let state = Protected(State())

    /// Whether the request for the page at hand was shown here: a router may be unable to.
    var sawRequest: Bool { state.value.sawRequest }

    /// Notes a token. False when it was there already.
    @discardableResult
    func insert(_ token: some Hashable) -> Bool {
        let mark = Mark(token)
        return state.withLock { $0.seen.insert(mark).inserted }
    }

    func contains(_ token: some Hashable) -> Bool {
        let mark = Mark(token)
        return state.withLock { $0.seen.contains(mark) }
    }

    /// Asks for one page; nil when its request was sent before, and so was not sent.
    func asking(_ ask: () async throws -> NetworkResponse) async throws -> NetworkResponse? {
        state.withLock { $0.sawRequest = false }
        do {
            return try await ask()
        } catch {
            if state.withLock({ $0.isRepeat }) { return nil }
            throw error
        }
    }

    /// Lets a request pass that is sent for the first time. One whose body is streamed passes always.
    ///
    /// - Throws: When it was sent before.
    func pass(_ request: NetworkRequest) throws(NetworkError) {
        let mark = Mark(sending: request)
        let isNew = state.withLock { state in
            state.sawRequest = true
            guard let mark, !state.seen.insert(mark).inserted else { return true }
            state.isRepeat = true
            return false
        }
        if !isNew { throw NetworkError(.cancelled, reason: "this request was sent before") }
    }

    /// The request for the page at a URL that the server gave, or for the first page without one.
    ///
    /// - Throws: `NetworkError.Code.redirectRefused`.
    func move(_ request: NetworkRequest, to url: URL?) throws(NetworkError) -> NetworkRequest {
        let lastURL = state.withLock { state in
            state.sawRequest = true
            return state.lastURL
        }
        guard let url else {
            if let first = request.url { insert(first.withoutFragment) }
            return request
        }
        if let lastURL {
            try url.refuseDowngrade(from: lastURL)
            // The first sending has used it up.
            guard request.body.isReplayable else {
                throw NetworkError(.redirectRefused, reason: "the body cannot be sent twice")
            }
        }
        var moved = try request.moved(to: url.withoutFragment)
        // As with redirects, credentials do not come back with the first origin: another one chose this URL.
        if url.isChosenElsewhere { moved.leaveOrigin() }
        return moved
    }

    /// Notes the URL that answered, also where a redirect led.
    func arrive(at url: URL?) {
        guard let url else { return }
        insert(url.withoutFragment)
        state.withLock { $0.lastURL = url }
    }
}

/// A value as 128 bits that nobody outside of the process can foresee.
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

    /// What makes a request the same as another: method, URL, header fields and body. Nil for a body that cannot be
    /// looked at.
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
