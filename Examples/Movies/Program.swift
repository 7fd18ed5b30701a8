import Foundation
import Switchboard

/// The whole program: words in, text and an exit code out.
struct Program: Sendable {
    let console: Console
    /// The process environment: the real API's key is in it.
    let variables: [String: String]
    /// How long to wait for a server: people are waiting, too.
    var timeouts = Timeouts(idle: .seconds(10), total: .seconds(30))

    func run(_ words: [String]) async -> ExitCode {
        do {
            switch try Invocation(words) {
            case .help(let command): try console.show(Help.text(for: command))
            case .run(let arguments): try console.show(await answer(arguments))
            }
            return .success
        } catch {
            let failure = Failure(error)
            console.note("movies: \(failure.message)")
            return failure.exitCode
        }
    }

    private func answer(_ arguments: Arguments) async throws -> String {
        switch arguments.source {
        case .embedded:
            try await EmbeddedServer.run { url in
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

    /// Saves a poster, with a bar while that goes on where there is a terminal.
    private func savePoster(of id: Int, to file: URL, from service: MovieService) async throws -> String {
        let bar = ProgressBar()
        let progress = TransferProgress()
        async let drawing: Void = {
            guard let draw = console.draw else { return }
            for await update in progress { draw(bar.frame(update)) }
            draw(ProgressBar.end)
        }()
        do {
            try await service.savePoster(of: id, to: file, progress: progress)
        } catch {
            progress.foundationProgress.cancel()
            throw error
        }
        await drawing
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
