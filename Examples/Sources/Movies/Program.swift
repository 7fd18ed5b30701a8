import ExampleKit
import Foundation
import Switchboard

/// The whole program. Receives the words of the command line, writes text and returns an exit code.
struct Program: Sendable {
    let console: Console
    /// The environment variables. `TMDB_API_KEY` is the key of the real API.
    let variables: [String: String]
    var timeouts = Timeouts.ofExamples

    func run(_ words: [String]) async -> ExitCode {
        await console.run("movies") {
            switch try Invocation(words) {
            case .help(let command): Command.help.text(for: command)
            case .run(let arguments): try await answer(arguments)
            }
        }
    }

    private func answer(_ arguments: Arguments) async throws -> String {
        switch arguments.source {
        case .embedded:
            try await EmbeddedServer.run(MovieServer.answer) { url in
                try await answer(arguments, from: .under(url))
            }
        case .server(let url):
            try await answer(arguments, from: .under(url))
        case .live:
            try await answer(arguments, from: .live(key: liveKey))
        }
    }

    private func answer(_ arguments: Arguments, from backend: MovieBackend) async throws -> String {
        let interceptors: [any Interceptor] =
            arguments.isVerbose ? [NetworkLogger(level: .headers, output: console.note)] : []
        let manager = NetworkManager(
            environment: arguments.environment, interceptors: interceptors,
            options: RequestOptions { $0.timeouts = timeouts })
        let service = MovieService(
            router: manager.router(for: MovieApi.self), images: manager.router(for: ImageApi.self))
        return try await MovieBackend.$current.withValue(backend) {
            if case .movie(let id) = arguments.call, let file = arguments.output {
                return try await savePoster(of: id, to: file, from: service)
            }
            return try await service.report(on: arguments.call, in: arguments.environment)
        }
    }

    /// Saves a poster and draws a progress bar if the output is a terminal.
    private func savePoster(of id: Int, to file: URL, from service: MovieService) async throws -> String {
        let progress = TransferProgress()
        try await console.withBar(for: progress) {
            try await service.savePoster(of: id, to: file, progress: progress)
        }
        let size = ProgressBar.kilobytes(progress.current.completed)
        return "saved the poster of movie \(id), \(size) KB, as \(file.path)"
    }

    private var liveKey: String {
        get throws {
            guard let key = variables["TMDB_API_KEY"], !key.isEmpty else {
                throw Failure(.configuration, "--live needs a key: set TMDB_API_KEY to yours from themoviedb.org")
            }
            return key
        }
    }
}
