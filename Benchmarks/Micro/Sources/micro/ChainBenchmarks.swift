import Foundation
import Movies
import Switchboard
import SwitchboardCookies

/// The cost of the router, interceptors and response handling over a session without a network.
struct ChainBenchmarks {
    let page: Data

    func run(_ figures: inout MicroFigures) async throws {
        let session = ReadySession(page)
        let plain = Router<MovieApi>(session: session)
        let five = Router<MovieApi>(session: session, interceptors: FiveInterceptors.make())
        let foreign = Router<MovieApi>(session: ForeignSession(session: session))
        let cookies = Router<MovieApi>(session: session, exchangeInterceptors: [CookieInterceptor()])
        let redirected = Router<MovieApi>(session: RedirectingSession(session: session))
        let failing = Router<MovieApi>(session: FailingSession())
        guard let url = URL(string: "https://api.themoviedb.org/3/movie/now_playing?page=1") else {
            throw URLError(.badURL)
        }
        try await figures.add("chain.session") {
            consume(try await session.send(NetworkRequest(.get, url, headers: [.accept("application/json")])))
        }
        for (name, router) in [
            ("router", plain), ("router-and-five", five), ("router-foreign-session", foreign),
            ("router-cookies", cookies), ("router-redirect", redirected),
        ] {
            try await figures.add("chain." + name) { consume(try await router.response(for: .newMovies(page: 1))) }
        }
        try await figures.add("chain.typed") {
            consume(try await plain.request(.newMovies(page: 1), as: MoviePage.self))
        }
        await figures.add("chain.failure") { consume(try? await failing.response(for: .newMovies(page: 1))) }
        await figures.add("chain.completion") {
            consume(
                await withCheckedContinuation { continuation in
                    plain.request(.newMovies(page: 1)) { data, _, _ in continuation.resume(returning: data) }
                })
        }
    }
}

/// Returns a prepared page at once, with the headers of a typical server.
struct ReadySession: NetworkSession {
    var runsInCallersTask: Bool { true }
    private let response: NetworkResponse

    init(_ page: Data) {
        let headers: HTTPHeaders = [
            "Server": "nginx", "Date": "Fri, 21 Nov 2025 14:00:00 GMT", "Content-Type": "application/json",
            "Content-Length": "12288", "Last-Modified": "Fri, 21 Nov 2025 13:00:00 GMT", "Connection": "keep-alive",
            "ETag": "\"691f0000-3000\"", "Accept-Ranges": "bytes", "Cache-Control": "max-age=3153600000",
        ]
        response = NetworkResponse(statusCode: 200, headers: headers, body: page)
    }

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        var response = response
        response.request = request
        return response
    }
}

/// An app's session, that does not run in the caller's task.
private struct ForeignSession: NetworkSession {
    let session: ReadySession

    func send(_ request: NetworkRequest) async throws -> NetworkResponse { try await session.send(request) }
}

/// Redirects the first request of a call.
private struct RedirectingSession: NetworkSession {
    var runsInCallersTask: Bool { true }
    let session: ReadySession

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        guard request.url?.path.hasSuffix("now_playing") == true else { return try await session.send(request) }
        var response = NetworkResponse(statusCode: 302, headers: ["Location": "/3/movie/popular?page=1"])
        response.request = request
        return response
    }
}

/// Fails every request for lack of a network.
private struct FailingSession: NetworkSession {
    var runsInCallersTask: Bool { true }
    func send(_ request: NetworkRequest) async throws -> NetworkResponse { throw NetworkError(.noInternetConnection) }
}
