import Foundation
import Switchboard

/// What router, five interceptors and response handling add to a session that does nothing.
struct ChainBenchmarks {
    func run(_ figures: inout MicroFigures) async throws {
        let session = ReadySession()
        let router = Router<MovieApi>(session: session, interceptors: FiveInterceptors.make())
        let plain = Router<MovieApi>(session: session)
        guard let url = URL(string: "https://api.themoviedb.org/3/movie/now_playing?page=1") else {
            throw URLError(.badURL)
        }
        try await figures.add("chain.session") {
            consume(try await session.send(NetworkRequest(.get, url, headers: [.accept("application/json")])))
        }
        try await figures.add("chain.router") { consume(try await plain.response(for: .newMovies(page: 1))) }
        try await figures.add("chain.router-and-five") {
            consume(try await router.response(for: .newMovies(page: 1)))
        }
    }
}

/// Answers at once with a 12 KB page that was made beforehand, as a server's would look.
private struct ReadySession: NetworkSession {
    private let response: NetworkResponse = {
        let headers: HTTPHeaders = [
            "Server": "nginx", "Date": "Fri, 21 Nov 2025 14:00:00 GMT", "Content-Type": "application/json",
            "Content-Length": "12288", "Last-Modified": "Fri, 21 Nov 2025 13:00:00 GMT", "Connection": "keep-alive",
            "ETag": "\"691f0000-3000\"", "Accept-Ranges": "bytes",
        ]
        return NetworkResponse(status: 200, headers: headers, body: Data(count: 12_288))
    }()

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        var response = response
        response.url = request.url
        response.request = request
        return response
    }
}
